"""A loopback index for rehearsals: the simple API in JSON, files, and `.metadata`, one prefix per index name."""

from __future__ import annotations

import http.server
import json
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote

from packaging.utils import canonicalize_name, parse_wheel_filename

from accel_install.digests import sha256_bytes

__all__ = ["LoopbackIndex"]

_JSON = "application/vnd.pypi.simple.v1+json"


class LoopbackIndex:
    """Serve folders of wheels on 127.0.0.1 while the context is open.

    Args:
        folders: index name to a folder of wheels; index NAME is at `url(NAME)`.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders
        handler = type("Handler", (_Handler,), {"folders": folders})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def url(self, name: str) -> str:
        """Return the address of an index."""
        return f"http://127.0.0.1:{self._server.server_port}/{name}/simple"

    def __enter__(self) -> LoopbackIndex:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)


class _Handler(http.server.BaseHTTPRequestHandler):
    folders: Mapping[str, Path] = {}

    def do_GET(self) -> None:
        index, _, rest = unquote(self.path).strip("/").partition("/")
        folder = self.folders.get(index)
        kind, _, name = rest.partition("/")
        found = None
        if folder is not None and kind == "simple":
            found = _page(folder, index, name.strip("/"))
        elif folder is not None and kind == "files" and "/" not in name:
            found = _file(folder, name)
        self._answer(found)

    do_HEAD = do_GET

    def _answer(self, found: tuple[str, bytes] | None) -> None:
        kind, body = found or ("text/plain", b"not here")
        self.send_response(200 if found else 404)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the rehearsal has its own commentary."""


def _page(folder: Path, index: str, project: str) -> tuple[str, bytes] | None:
    wheels = [p for p in sorted(folder.glob("*.whl")) if parse_wheel_filename(p.name)[0] == canonicalize_name(project)]
    if not wheels:
        return None
    files = [_entry(p, index) for p in wheels]
    document = {"meta": {"api-version": "1.1"}, "name": project, "files": files}
    return _JSON, json.dumps(document).encode()


def _entry(path: Path, index: str) -> dict[str, object]:
    data = path.read_bytes()
    return {
        "filename": path.name,
        "url": f"/{index}/files/{path.name}",
        "hashes": {"sha256": sha256_bytes(data)},
        "size": len(data),
        "requires-python": None,
        "yanked": False,
        "core-metadata": True,
    }


def _file(folder: Path, name: str) -> tuple[str, bytes] | None:
    if name.endswith(".metadata"):
        path = folder / name[: -len(".metadata")]
        return ("text/plain", _metadata(path)) if path.is_file() else None
    path = folder / name
    return ("application/octet-stream", path.read_bytes()) if path.is_file() else None


def _metadata(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        member = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return archive.read(member)
