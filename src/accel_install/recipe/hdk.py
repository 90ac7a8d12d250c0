"""Which drivers an SDK accepts, and whether installed layers fit each other. Pure; rows and facts come in as values.

The lists of the installed files themselves come first (`compatible_version_fw`, `compatible_version_drv`, `Innerversion`),
then the published rows. What nobody documents is a warning, never a fault.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from accel_install.facts.models import LayerFacts, LayersFacts
from accel_install.recipe.models import Row
from accel_install.recipe.vendor_versions import VendorVersion, matches_line, same_version

__all__ = ["HdkAnswer", "accepted_hdk", "in_ranges", "layer_problems"]

_RANGE = re.compile(r"\[([^\],]+),([^\]]+)\]")
_LINE = re.compile(r"V\d+R\d+C\d+", re.IGNORECASE)


@dataclass(frozen=True)
class HdkAnswer:
    """Driver bundles (HDK) for one CANN version: `accepts` may stay, `matched` shipped together, newest first."""

    cann: str
    accepts: tuple[str, ...]
    matched: tuple[str, ...]
    source: str
    status: str


def accepted_hdk(cann: str, rows: Sequence[Row]) -> HdkAnswer:
    """Return the documented driver bundles of a CANN version.

    A row that names a whole line (`line: "9.0"`, for 9.0.X in the CANN release notes) stands for a release without a row
    of its own. For any other version nobody documents anything: the answer is empty and `unverified`.
    """
    about = [r for r in rows if "hdk" in r.components and r.status != "unverified"]
    compatible = _about(cann, [r for r in about if r.relation == "compatible"])
    matched = _about(cann, [r for r in about if r.relation == "matched"])
    if not compatible and not matched:
        return HdkAnswer(cann, (), (), "nobody documents the drivers of this CANN version", "unverified")
    source = "; ".join(dict.fromkeys(r.source for r in [*compatible, *matched]))
    return HdkAnswer(cann, _bundles(compatible), _bundles(matched), source, "published")


def _about(cann: str, rows: Sequence[Row]) -> list[Row]:
    exact = [r for r in rows if same_version(str(r.components.get("cann")), cann)]
    return exact or [r for r in rows if r.line is not None and matches_line(cann, r.line)]


def _bundles(rows: Sequence[Row]) -> tuple[str, ...]:
    found: list[str] = []
    for row in rows:
        value = row.components["hdk"]
        found += [value] if isinstance(value, str) else value
    return tuple(sorted(dict.fromkeys(found), key=VendorVersion, reverse=True))


def in_ranges(version: str, ranges: str) -> bool | None:
    """Say whether a version lies in a vendor list `[low,high],[low,high]`; None when the list is not readable.

    A trailing dot of the upper bound means everything below that prefix, pre-releases too (`[25.0,25.0.]` holds
    25.0.rc1.1, which is older than 25.0).
    """
    pairs = _RANGE.findall(ranges)
    if not pairs:
        return None
    return any(_in_range(version, low.strip(), high.strip()) for low, high in pairs)


def _in_range(version: str, low: str, high: str) -> bool:
    if not high.endswith("."):
        return VendorVersion(low) <= VendorVersion(version) <= VendorVersion(high)
    prefix = high.rstrip(".")
    reaches = VendorVersion(low) <= VendorVersion(version) or _below(version, low)
    return reaches and (VendorVersion(version) <= VendorVersion(prefix) or _below(version, prefix))


def _below(version: str, prefix: str) -> bool:
    return version.lower().startswith(prefix.lower() + ".")


def layer_problems(layers: LayersFacts, cann: str | None, rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return (severity, text) for every pair of installed layers that is documented to fail or not documented at all.

    Args:
        layers: what is installed.
        cann: the CANN version to judge the driver against; None takes the installed one.
        rows: compatibility rows with driver bundles.
    """
    return [*_firmware_problems(layers), *_driver_problems(layers, cann, rows)]


def _firmware_problems(layers: LayersFacts) -> list[tuple[str, str]]:
    driver, firmware = layers.driver, layers.firmware
    if driver is None or firmware is None or driver.version is None or firmware.version is None:
        return []
    checks = (
        ("driver", driver, "compatible_version_fw", firmware.version, "firmware"),
        ("firmware", firmware, "compatible_version_drv", driver.version, "driver"),
    )
    found = []
    for name, layer, key, version, other in checks:
        ranges = layer.details.get(key)
        fits = in_ranges(version, ranges) if ranges else None
        if fits is False:
            text = f"{other} {version} is outside what the {name} {layer.version} accepts ({key}={ranges}): firmware and driver"
            found.append(("fault", text))
    if not found and not any(layer.details.get(key) for _, layer, key, _, _ in checks):
        pair = f"firmware {firmware.version} and driver {driver.version}"
        found.append(("warning", f"{pair}: neither file says what it accepts"))
    return found


def _driver_problems(layers: LayersFacts, cann: str | None, rows: Sequence[Row]) -> list[tuple[str, str]]:
    driver, sdk = layers.driver, layers.sdk
    wanted = cann or (sdk.version if sdk else None)
    if driver is None or driver.version is None or wanted is None:
        return []
    same = sdk if sdk is not None and sdk.version is not None and same_version(sdk.version, wanted) else None
    known = _lists_agree(driver, same) if same is not None else None
    if known is True:
        return []
    answer = accepted_hdk(wanted, rows)
    lines = tuple(dict.fromkeys((*answer.accepts, *answer.matched)))
    if any(matches_line(driver.version, line) for line in lines):
        return []
    if known is False:
        entry = _inner(driver) or "?"
        text = f"driver {driver.version} ({entry}) and CANN {wanted} do not list each other"
        return [("fault", text)]
    if answer.accepts:
        return [("fault", f"driver {driver.version} is not among those CANN {wanted} accepts: {', '.join(lines)}")]
    shipped = f" (it was shipped with {', '.join(answer.matched)})" if answer.matched else ""
    return [("warning", f"nobody documents whether CANN {wanted} accepts driver {driver.version}{shipped}")]


def _inner(layer: LayerFacts) -> str | None:
    text = layer.details.get("Innerversion") or layer.details.get("innerversion") or ""
    found = _LINE.match(text)
    return found.group(0).upper() if found else None


def _lists_agree(driver: LayerFacts, sdk: LayerFacts) -> bool | None:
    """Judge by the files' own lists: either names the other. Membership only; the C numbers are not ordered by time.

    Source: inferred from published pairs (unverified as a rule, but it holds for the complete pairs that were seen).
    """
    mine, theirs = _inner(driver), _inner(sdk)
    if mine is None or theirs is None:
        return None
    lists = [{x.upper() for x in _LINE.findall(layer.details.get("compatible_version", ""))} for layer in (driver, sdk)]
    if not lists[0] and not lists[1]:
        return None
    return theirs in lists[0] or mine in lists[1]
