"""The plan and the pure functions that build it."""
