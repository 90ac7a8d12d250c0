"""Whether what was pinned still holds: reading environments, comparing them with a promise, planning repairs.

Reading (`environment`, `ownership`, `integrity`) touches the disk; comparing (`pins`, `families`, `culprit`,
`requirements`, `repair`) is pure. Nothing here runs an interpreter or changes an environment.
"""
