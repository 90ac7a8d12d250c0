"""The killer: another process that polls a journal and sends SIGKILL to a pid when the journal holds N whole records.

killer.py PID JOURNAL N
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path


def main() -> None:
    """Poll until the journal holds N records or the process is gone."""
    pid, journal, wanted = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if journal.is_file() and journal.read_bytes().count(b"\n") >= wanted:
            os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.0005)


main()
