"""The engine: journal, recovery, step kinds."""
