"""The machine lockfile: the promise that the next machine replays and that later checks compare with.

Models, canonical text, reading with every problem named, to and from plans, comparison. Writing to disk is
the caller's.
"""
