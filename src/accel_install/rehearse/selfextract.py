"""Real self-extracting .run files for stand-ins: a POSIX shell header, then a gzip'd tar, like the vendors' own.

The header knows the vendors' options, checks the payload's sha256 before it does anything, and hands the mode and the install
path to the payload's `install.sh`.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from accel_install.digests import sha256_bytes

__all__ = ["build_run_file"]

_MARKER = "__PAYLOAD__"
_HEADER = """#!/bin/sh
# STAND-IN for a vendor package, made for a rehearsal: {label}
set -u
label='{label}'
sha256='{sha256}'
mode=''; path='/usr/local/Ascend'; target=''
for option in "$@"; do
  case "$option" in
    --full|--install|--upgrade|--uninstall|--check|--info|--version|--devel) mode="${{option#--}}" ;;
    --extract=*) mode=extract; target="${{option#--extract=}}" ;;
    --install-path=*) path="${{option#--install-path=}}" ;;
    --quiet|--nox11|--noexec|--install-for-all|--whitelist=*) ;;
    *) echo "Unrecognized flag : $option" >&2; exit 1 ;;
  esac
done
payload() {{ sed '1,/^{marker}$/d' "$0"; }}
case "$mode" in
  info|version) echo "stand-in: $label"; exit 0 ;;
  '') echo "one of --full, --install, --upgrade, --check is needed" >&2; exit 1 ;;
esac
actual=$(payload | sha256sum | cut -d' ' -f1)
if [ "$actual" != "$sha256" ]; then
  echo "Error in SHA256 checksum: $actual is different from $sha256" >&2
  exit 2
fi
[ "$mode" != check ] || {{ echo "SHA256 checksums are OK. (stand-in)"; exit 0; }}
if [ "$mode" = extract ]; then
  mkdir -p "$target" && payload | tar xzf - -C "$target"
  exit $?
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
payload | tar xzf - -C "$folder" || exit 2
sh "$folder/install.sh" "$mode" "$path" "$folder"
exit $?
{marker}
"""


def build_run_file(path: Path, files: Mapping[str, bytes], script: str, label: str) -> Path:
    """Write a self-extracting file.

    Args:
        path: where it goes; made executable.
        files: relative names in the payload and their contents.
        script: text of the payload's `install.sh`; it is called with mode, install path and the folder of the payload.
        label: what it stands in for, printed by `--info`.

    Raises:
        ValueError: the label cannot stand in a shell string, or a name leaves the payload.
    """
    if "'" in label or "\n" in label:
        raise ValueError(f"label {label!r} cannot stand in the header")
    payload = _payload({**files, "install.sh": script.encode()})
    header = _HEADER.format(label=label, sha256=sha256_bytes(payload), marker=_MARKER)
    path.write_bytes(header.encode() + payload)
    path.chmod(0o755)
    return path


def _payload(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in sorted(files.items()):
            if name.startswith("/") or ".." in Path(name).parts:
                raise ValueError(f"{name} would leave the payload")
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = len(content), 0o644, 0
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()
