"""The end of `resolve`: print the answer, choose the exit code."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from accel_install.cli.asking import Asked
from accel_install.cli.output import print_json, report_error
from accel_install.errors import AccelError, IndexUnavailableError, ResolutionError
from accel_install.fetch.urls import scrub
from accel_install.resolve.index_errors import OUT_OF_REACH

__all__ = ["finish_answer"]


def finish_answer(asked: Asked, *, as_json: bool, all_files: bool) -> int:
    """Show an answer and return the exit code."""
    refusal = _refusal(asked)
    document = _document(asked)
    if as_json:
        if refusal is not None:
            return report_error(refusal, as_json=True, document=document)
        print_json(document)
        return 0
    from accel_install.report.answer import print_answer
    from accel_install.report.console import make_console

    print_answer(document, make_console(), all_files=all_files)
    return report_error(refusal, as_json=False) if refusal is not None else 0


def _document(asked: Asked) -> dict[str, Any]:
    answer = asked.answer
    return {
        "target": asked.target.to_dict(),
        "wheels": [
            {
                "name": w.name,
                "version": w.version,
                "filename": w.filename,
                "url": scrub(w.url),
                "index": w.index,
                "sha256": w.sha256,
                "size_bytes": w.size_bytes,
                "hashes": list(w.hashes),
                "requested": w.name in asked.names,
            }
            for w in answer.wheels
        ],
        "rejected": [asdict(r) for r in answer.rejected],
        "unresolved": [{**asdict(u), "alternatives": list(u.alternatives)} for u in answer.unresolved],
        "warnings": list(answer.warnings),
    }


def _refusal(asked: Asked) -> AccelError | None:
    holes = asked.answer.unresolved
    if not holes:
        return None
    first = next((u for u in holes if u.reason in OUT_OF_REACH), holes[0])
    value = ", ".join(f"{u.name}{u.version}" for u in holes)
    if first.reason in OUT_OF_REACH:
        return IndexUnavailableError(
            f"resolve.{first.reason}",
            first.detail,
            value=value,
            expected="an answer from every index that may own the package",
            hint="run once without --offline"
            if first.reason == "offline"
            else "--index NAME=URL of a mirror, --package-index NAME=PKG, or --find-links DIR",
        )
    return ResolutionError(
        _slug(asked, first.name, first.reason),
        first.detail,
        value=value,
        expected="a wheel that fits the target",
        hint=_hint(first.name, first.alternatives),
    )


def _slug(asked: Asked, name: str, reason: str) -> str:
    """Return `resolve.no-wheel-for-abi` and its like for a refusal that has one reason only."""
    if reason != "no-wheel":
        return f"resolve.{reason}"
    reasons = {r.reason for r in asked.answer.rejected if r.name == name and r.reason not in ("sdist-only", "platform")}
    return f"resolve.no-wheel-for-{reasons.pop()}" if len(reasons) == 1 else "resolve.no-wheel"


def _hint(name: str, alternatives: tuple[str, ...]) -> str | None:
    return f"accel-install resolve '{name}=={alternatives[0]}'" if alternatives else None
