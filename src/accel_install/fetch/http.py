"""Reading from the network: the only user of httpx.

Asks again where that helps, never shows credentials, always checks certificates, and reads `file:` addresses
and plain paths the same way. Resuming into a file is in `transfer`; checking and keeping what came is in
`download` and `store`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from accel_install.errors import AccelError
from accel_install.fetch import failures, local_files
from accel_install.fetch.credentials import Credentials
from accel_install.fetch.responses import BUSY_STATUSES, HttpResponse, StreamInfo, content_range
from accel_install.fetch.retry import RetryPolicy, TryAgain, retry_after_s
from accel_install.fetch.transfer import Transfer
from accel_install.fetch.urls import local_path, scrub, split_credentials
from accel_install.version import __version__

if TYPE_CHECKING:
    import httpx

__all__ = ["HttpClient", "RawStream"]

T = TypeVar("T")

# httpx imports its own command line when rich is there, which costs more than all the rest of it
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]

_MAX_CONNECTIONS = 24  # as many as the readers of metadata; more make some hosts slow down
_CONNECT_TIMEOUT_S = 10.0
_UNAUTHORISED = 401
_IDENTITY = {"accept-encoding": "identity"}  # ranges and lengths count the bytes of the file itself


@dataclass(frozen=True)
class RawStream:
    """An answer whose body is still to be read, as the server sent it."""

    status: int
    headers: dict[str, str]
    url: str
    chunks: Iterator[bytes]


class _Answered(TryAgain):
    """A status that may pass; the answer is kept for the case that it does not."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(f"HTTP status {response.status}", retry_after_s(response.headers.get("retry-after")))
        self.response = response


class HttpClient:
    """Thread-safe reader of addresses. Proxies come from the environment.

    Credentials in an address are used for its origin (scheme, host, port), also by later requests that lack
    them, and appear neither in answers nor in errors.

    Args:
        timeout_s: how long a server may stay silent.
        policy: how often and how patiently to ask again.
        credentials: of origins; None for what addresses, netrc and keyring say.
    """

    def __init__(
        self, timeout_s: float = 30.0, policy: RetryPolicy | None = None, credentials: Credentials | None = None
    ) -> None:
        self.timeout_s = timeout_s
        self._policy = policy or RetryPolicy()
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._credentials = credentials or Credentials()

    def learn(self, url: str) -> None:
        """Remember the credentials of an address for its origin, without asking for anything."""
        self._credentials.learn(url)

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
        """Return the whole answer; a status of 400 and more is returned, not raised.

        Raises:
            IndexUnavailableError: `network.unreachable`, `network.tls` or `network.bad-url`.
        """
        path = local_path(url)
        if path is not None:
            return local_files.read_whole(path)
        try:
            return self.retrying(url, lambda: self._get_once(url, headers))
        except _Answered as last:
            return last.response

    def get_range(self, url: str, start: int, end: int | None = None) -> HttpResponse:
        """Return the bytes from `start` to `end`, both inclusive; a negative `start` asks for the last ones.

        Status 206 holds the bytes. Status 200 means that the server does not serve ranges; its body was not
        read and `content` is empty. 400 and more are returned, not raised.

        Raises:
            IndexUnavailableError: `network.bad-range` when other bytes than asked for came, else as `get`.
        """
        path = local_path(url)
        if path is not None:
            return local_files.read_range(path, start, end)
        asked = f"bytes={start}" if start < 0 else f"bytes={start}-{'' if end is None else end}"
        try:
            response = self.retrying(url, lambda: self._range_once(url, {"range": asked}))
        except _Answered as last:
            return last.response
        if response.status == 206:
            _check_range(response, start)
        return response

    def stream_to(
        self,
        url: str,
        path: Path,
        *,
        resume: bool = False,
        validator: str | None = None,
        limit_bytes: int | None = None,
        headers: Mapping[str, str] | None = None,
        on_start: Callable[[StreamInfo], None] | None = None,
        on_chunk: Callable[[int], None] | None = None,
    ) -> StreamInfo:
        """Write the body of a remote address to a file; see `transfer.Transfer` for the arguments.

        Raises:
            IndexUnavailableError: `network.not-found`, `network.refused` or `network.bad-status` for a status
                of 400 and more, else as `get`. What was written stays in the file.
            OSError: the file cannot be written.
        """
        transfer = Transfer(self, url, path, resume, validator, limit_bytes, headers or {}, on_start, on_chunk)
        return self.retrying(url, transfer.attempt)

    def retrying(self, url: str, attempt: Callable[[], T]) -> T:
        """Call `attempt` by the retry policy and turn what the network did into an error of ours.

        Raises:
            IndexUnavailableError: see `get`.
        """
        try:
            return self._policy.call(attempt, _is_transient)
        except (AccelError, _Answered, OSError):
            raise
        except TryAgain as error:
            raise failures.unreachable(url, str(error), self.timeout_s) from None
        except Exception as error:
            # The cause is cut off: its text may hold the address with its credentials.
            raise _network_error(url, error, self.timeout_s) from None

    @contextmanager
    def open_stream(self, url: str, headers: Mapping[str, str]) -> Iterator[RawStream]:
        """Ask once for an address as it is stored (no content coding) and hand out the unread body.

        Raises:
            Exception: of httpx; call it inside `retrying`.
        """
        bare, auth = self._authorised(url)
        with self._connected().stream("GET", bare, headers={**headers, **_IDENTITY}, auth=auth) as answer:
            final, _ = split_credentials(str(answer.url))
            yield RawStream(answer.status_code, dict(answer.headers), final, answer.iter_raw())

    def close(self) -> None:
        """Close all connections; the client may be used again afterwards."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _get_once(self, url: str, headers: Mapping[str, str] | None) -> HttpResponse:
        bare, auth = self._authorised(url)
        answer = self._connected().get(bare, headers=dict(headers or {}), auth=auth)
        login = self._credentials.demanded(bare) if answer.status_code == _UNAUTHORISED else None
        if login is not None:
            answer = self._connected().get(bare, headers=dict(headers or {}), auth=login)
        final, _ = split_credentials(str(answer.url))
        return _settled(HttpResponse(answer.status_code, dict(answer.headers), answer.content, final))

    def _range_once(self, url: str, headers: Mapping[str, str]) -> HttpResponse:
        with self.open_stream(url, headers) as raw:
            content = b"".join(raw.chunks) if raw.status != 200 else b""
        return _settled(HttpResponse(raw.status, raw.headers, content, raw.url))

    def _authorised(self, url: str) -> tuple[str, Any]:
        """Return the address without credentials, and the ones known for its origin in httpx's form."""
        import httpx

        bare = self._credentials.learn(url)
        return bare, self._credentials.of(bare) or httpx.USE_CLIENT_DEFAULT

    def _connected(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> httpx.Client:
        import httpx

        from accel_install.fetch.tls import tls_context

        connect_s = min(self.timeout_s, _CONNECT_TIMEOUT_S)
        context = tls_context()
        try:
            return httpx.Client(
                verify=context,
                timeout=httpx.Timeout(self.timeout_s, connect=connect_s, pool=None),
                limits=httpx.Limits(max_connections=_MAX_CONNECTIONS, max_keepalive_connections=_MAX_CONNECTIONS),
                headers={"user-agent": f"accel-install/{__version__}"},
                follow_redirects=True,
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise failures.bad_proxy(error) from None


def _settled(response: HttpResponse) -> HttpResponse:
    if response.status in BUSY_STATUSES:
        raise _Answered(response)
    return response


def _check_range(response: HttpResponse, start: int) -> None:
    found = content_range(response.headers)
    if found is not None and start < 0 and found.total_bytes is not None:
        start = max(0, found.total_bytes + start)
    length = len(response.content)
    if found is None or (start >= 0 and found.start != start) or length != found.end - found.start + 1:
        raise failures.bad_range(response, start)


def _is_transient(error: BaseException) -> bool:
    import httpx

    final = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.ProxyError)
    if isinstance(error, final) or not isinstance(error, (httpx.TransportError, httpx.DecodingError)):
        return False
    return failures.certificate_problem(error) is None and not failures.is_unknown_name(error)


def _network_error(url: str, error: Exception, timeout_s: float) -> Exception:
    import httpx

    problem = failures.certificate_problem(error)
    if problem is not None:
        return failures.untrusted(url, problem)
    if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError)):
        return failures.bad_url(url)
    if isinstance(error, httpx.TimeoutException):
        return failures.unreachable(url, "the time limit passed", timeout_s)
    if isinstance(error, (httpx.RequestError, httpx.StreamError)):
        return failures.unreachable(url, scrub(str(error)) or type(error).__name__, timeout_s)
    return error
