"""Certificates are checked, and the user's own authority is believed when it is named."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from accel_install.errors import IndexUnavailableError
from accel_install.fetch.http import HttpClient
from accel_install.fetch.retry import RetryPolicy

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl program")


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"trusted")

    def log_message(self, *args: object) -> None:
        """Stay silent."""


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    file = tmp_path / "own-ca.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        [*command.split(), *names, "-keyout", str(tmp_path / "key"), "-out", str(file)],
        check=True,
        capture_output=True,
    )
    file.write_bytes(file.read_bytes() + (tmp_path / "key").read_bytes())
    return file


@pytest.fixture
def address(certificate: Path) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = HTTPServer(("127.0.0.1", 0), _Handler)
    server.handle_error = lambda *args: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_unknown_authority_is_refused_at_once_and_the_way_out_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    waits: list[float] = []
    client = HttpClient(timeout_s=10, policy=RetryPolicy(sleep=waits.append))
    with pytest.raises(IndexUnavailableError) as caught:
        client.get(address)
    assert caught.value.slug == "network.tls" and "self" in caught.value.message
    assert "SSL_CERT_FILE" in (caught.value.hint or "") and waits == []


def test_the_named_authority_is_believed(address: str, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    client = HttpClient(timeout_s=10)
    assert client.get(address).content == b"trusted"
    client.close()
