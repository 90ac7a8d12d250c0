"""Readers of the event stream: one JSON line per event, or one plain line per event for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from accel_install.events import Event, Reader

__all__ = ["event_line", "json_reader", "text_reader"]


def json_reader() -> Reader:
    """Return a reader that writes each event as one JSON line to stdout."""

    def read(event: Event) -> None:
        sys.stdout.write(json.dumps(event.to_dict(), ensure_ascii=False) + "\n")
        sys.stdout.flush()

    return read


def text_reader(write: Callable[[str], Any] = sys.stdout.write) -> Reader:
    """Return a reader that writes one line per event that a person needs to see."""

    def read(event: Event) -> None:
        line = event_line(event)
        if line is not None:
            write(line + "\n")
            sys.stdout.flush()

    return read


def event_line(event: Event) -> str | None:
    """Return the line for people, or None for events that only machines need."""
    data = event.data
    name = event.step or "run"
    if event.type == "step-decided":
        return f"{name}: {data.get('decision')}: {data.get('reason', '')}"
    if event.type == "step-started":
        return f"{name}: started"
    if event.type == "step-finished":
        return f"{name}: done"
    if event.type == "step-failed":
        return f"{name}: FAILED: {data.get('message', '')}"
    if event.type == "finding":
        return f"{name}: {data.get('severity', 'fault')}: {data.get('text', data.get('slug', ''))}"
    if event.type in ("message", "run-finished"):
        return str(data.get("text") or data.get("message") or data.get("result") or "")
    return None
