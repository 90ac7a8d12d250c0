"""The command line; wiring is the only place where stages meet."""
