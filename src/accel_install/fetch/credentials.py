"""User and password of an origin: from an address, from netrc, from keyring. They leave this module for their origin only."""

from __future__ import annotations

import netrc
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from accel_install.fetch.urls import origin_of, split_credentials

__all__ = ["Credentials", "Login"]

Login = tuple[str, str]

_KEYRING_S = 15


class Credentials:
    """What is known of origins (scheme, host, port). Thread-safe.

    An address' own user and password win, then the user's netrc file, then, once a server demands a login, the `keyring`
    program where it is installed. Nobody is ever asked.

    Args:
        environ: for NETRC, HOME and PATH; None for this process's.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._known: dict[str, Login] = {}
        self._users: dict[str, str] = {}
        self._asked: set[str] = set()
        self._lock = threading.Lock()

    def learn(self, url: str) -> str:
        """Remember the credentials of an address for its origin and return the address without them."""
        bare, found = split_credentials(url)
        if found is not None:
            with self._lock:
                if found[1]:
                    self._known[origin_of(bare)] = found
                elif found[0]:
                    self._users[origin_of(bare)] = found[0]
        return bare

    def of(self, url: str) -> Login | None:
        """Return what is known of an address' origin, netrc included."""
        origin = origin_of(url)
        with self._lock:
            if origin not in self._known:
                found = self._from_netrc(url, self._users.get(origin))
                if found is None:
                    return None
                self._known[origin] = found
            return self._known[origin]

    def demanded(self, url: str) -> Login | None:
        """Ask keyring, after a server demanded a login; once per origin, None when it knows nothing."""
        origin = origin_of(url)
        with self._lock:
            if origin in self._asked or origin in self._known:
                return None
            self._asked.add(origin)
            found = self._from_keyring(url, self._users.get(origin))
            if found is not None:
                self._known[origin] = found
            return found

    def _from_netrc(self, url: str, user: str | None) -> Login | None:
        host = urlsplit(url).hostname
        path = self._netrc_path()
        if host is None or path is None:
            return None
        try:
            entry = netrc.netrc(str(path)).authenticators(host)
        except (OSError, netrc.NetrcParseError, UnicodeDecodeError):
            return None
        if entry is None or not entry[2] or (user is not None and user != entry[0]):
            return None
        return entry[0] or "", entry[2]

    def _netrc_path(self) -> Path | None:
        named = self._environ.get("NETRC")
        home = Path(self._environ.get("HOME") or "/nonexistent")
        places = [Path(named)] if named else [home / ".netrc", home / "_netrc"]
        return next((p for p in places if p.is_file()), None)

    def _from_keyring(self, url: str, user: str | None) -> Login | None:
        program = shutil.which("keyring", path=self._environ.get("PATH"))
        host = urlsplit(url).hostname
        if program is None or host is None:
            return None
        for service in (url.split("?", 1)[0], host):
            if user is not None:
                said = self._run([program, "get", service, user])
                if said:
                    return user, said[0]
            else:
                said = self._run([program, "--mode", "creds", "get", service])
                if len(said) > 1:
                    return said[0], said[1]
        return None

    def _run(self, argv: list[str]) -> list[str]:
        try:
            done = subprocess.run(
                argv,
                env=dict(self._environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_KEYRING_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
            return []
        return [line for line in done.stdout.splitlines() if line] if done.returncode == 0 else []
