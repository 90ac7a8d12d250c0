"""The machine and everything that touches it: files, processes, the machine lock."""
