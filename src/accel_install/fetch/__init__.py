"""Downloads: resumed, verified, kept by content."""
