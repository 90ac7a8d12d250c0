"""Which wheel, from which index, and why."""
