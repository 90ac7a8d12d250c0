"""Who says the user and password of an origin: the address, netrc, keyring; and that they go nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from fetch_server import Exchange, serve

from accel_install.fetch.credentials import Credentials
from accel_install.fetch.http import HttpClient
from accel_install.fetch.retry import RetryPolicy


def environment(home: Path, *path: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": ":".join(map(str, path)) or "/nonexistent"}


def netrc(home: Path, text: str) -> None:
    file = home / ".netrc"
    file.write_text(text)
    file.chmod(0o600)


def keyring(folder: Path, script: str) -> Path:
    """Write a stand-in for the keyring program."""
    program = folder / "keyring"
    program.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked\n{script}\n')
    program.chmod(0o755)
    return folder


def test_the_address_wins_over_netrc(tmp_path: Path) -> None:
    netrc(tmp_path, "machine m.example login file password secret\n")
    known = Credentials(environment(tmp_path))
    assert known.of("https://m.example/simple/") == ("file", "secret")
    known = Credentials(environment(tmp_path))
    assert known.learn("https://own:pw@m.example/simple") == "https://m.example/simple"
    assert known.of("https://m.example/x") == ("own", "pw") and known.of("https://other.example/x") is None


def test_an_entry_of_another_user_is_not_taken(tmp_path: Path) -> None:
    netrc(tmp_path, "machine m.example login file password secret\n")
    known = Credentials(environment(tmp_path))
    known.learn("https://someone@m.example/simple")
    assert known.of("https://m.example/simple") is None


@pytest.mark.parametrize("text", ["nonsense here\n", "machine m.example\n", "\x00\xff"])
def test_a_damaged_netrc_is_no_netrc(tmp_path: Path, text: str) -> None:
    netrc(tmp_path, text)
    assert Credentials(environment(tmp_path)).of("https://m.example/x") is None


def guarded(x: Exchange) -> None:
    """Answer whoever is `u` with the password `pw`."""
    sent = {k.lower(): v for k, v in x.headers.items()}.get("authorization", "")
    x.send(200, b"inside") if sent == "Basic dTpwdw==" else x.send(401, b"who?")


def client(known: Credentials) -> HttpClient:
    return HttpClient(timeout_s=5, policy=RetryPolicy(attempts=1), credentials=known)


def test_netrc_opens_a_guarded_index(tmp_path: Path) -> None:
    netrc(tmp_path, "machine 127.0.0.1 login u password pw\n")
    with serve(guarded) as server:
        assert client(Credentials(environment(tmp_path))).get(f"{server.url}/x").content == b"inside"
        assert client(Credentials(environment(tmp_path / "no"))).get(f"{server.url}/x").status == 401


def test_keyring_is_asked_once_and_only_when_a_login_is_demanded(tmp_path: Path) -> None:
    folder = keyring(tmp_path, "echo u; echo pw")
    known = Credentials(environment(tmp_path, folder, Path("/bin")))
    with serve(lambda x: x.send(200, b"open")) as server:
        assert client(known).get(f"{server.url}/x").content == b"open"
    assert not (folder / "asked").exists()
    with serve(guarded) as server:
        reader = client(known)
        assert reader.get(f"{server.url}/x").content == b"inside" and reader.get(f"{server.url}/y").content == b"inside"
    asked = (folder / "asked").read_text().splitlines()
    assert len(asked) == 1 and asked[0].startswith("--mode creds get http") and "pw" not in asked[0]


def test_a_keyring_that_fails_leaves_the_refusal(tmp_path: Path) -> None:
    folder = keyring(tmp_path, "exit 1")
    with serve(guarded) as server:
        answer = client(Credentials(environment(tmp_path, folder, Path("/bin")))).get(f"{server.url}/x")
    assert answer.status == 401
