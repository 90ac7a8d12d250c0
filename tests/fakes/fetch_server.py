"""A loopback web server with faults, for the tests of `fetch`."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Handle = Callable[["Exchange"], None]


@dataclass
class Exchange:
    """One request and the means to answer it, rightly or wrongly."""

    handler: BaseHTTPRequestHandler
    path: str
    headers: Message
    count: int

    def send(self, status: int, body: bytes = b"", length: int | None = None, **headers: str) -> None:
        """Answer; `length` may lie about the body. Underscores in header names become dashes."""
        self.handler.send_response(status)
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("Content-Length", str(len(body) if length is None else length))
        self.handler.end_headers()
        self.handler.wfile.write(body)
        if length is not None and length > len(body):
            self.handler.wfile.flush()
            self.handler.close_connection = True

    def reset(self) -> None:
        """Cut the connection with a TCP reset."""
        linger = b"\x01\0\0\0\0\0\0\0"
        self.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.handler.connection.close()
        self.handler.close_connection = True

    def start(self) -> int:
        """First byte that is asked for, 0 without a Range."""
        asked = self.headers.get("Range", "bytes=0-")
        return int(asked.removeprefix("bytes=").split("-")[0])

    def send_ranged(self, body: bytes, etag: str | None = None) -> None:
        """Answer like a good server: 206 from the offset when If-Range fits, else the whole."""
        condition = self.headers.get("If-Range")
        extra = {"ETag": etag} if etag else {}
        if "Range" not in self.headers or (condition is not None and condition != etag):
            return self.send(200, body, **extra)
        start = self.start()
        where = f"bytes {start}-{len(body) - 1}/{len(body)}"
        return self.send(206, body[start:], Content_Range=where, **extra)


@dataclass
class Server:
    """What was asked, and the address."""

    url: str
    seen: list[tuple[str, Message]] = field(default_factory=list)

    def asked(self, path: str) -> list[Message]:
        """Headers of the requests for a path, in order."""
        return [headers for seen, headers in self.seen if seen == path]


@contextmanager
def serve(handle: Handle) -> Iterator[Server]:
    """Run the server; `handle` answers each request, `count` numbers those of one path from 1."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            server.seen.append((self.path, self.headers))
            handle(Exchange(self, self.path, self.headers, len(server.asked(self.path))))

        def log_message(self, *args: object) -> None:
            """Stay silent."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    httpd.handle_error = lambda *args: None  # type: ignore[method-assign]
    server = Server(f"http://127.0.0.1:{httpd.server_address[1]}")
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
