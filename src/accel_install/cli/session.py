"""What the commands of one call share: host, settings, caches, indexes. Made lazily, so that a refusal costs nothing."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from accel_install.cli.options import RunOptions
from accel_install.cli.settings import Settings, default_state_dir, home_dir, load_settings
from accel_install.errors import UsageError
from accel_install.facts.models import MachineFacts
from accel_install.host.local import LocalHost
from accel_install.recipe.models import IndexSpec
from accel_install.version import __version__

if TYPE_CHECKING:
    from accel_install.fetch.download import Downloader
    from accel_install.fetch.http import HttpClient
    from accel_install.fetch.store import ArtifactStore
    from accel_install.resolve.client import IndexClient

__all__ = ["Session", "make_host", "this_machine"]


def make_host(root: Path) -> LocalHost:
    """Return the host for `--root`. Only a scratch root made by a rehearsal may hold acts that cannot be confined.

    Raises:
        UsageError: the root is not a directory.
    """
    from accel_install.rehearse.marker import is_rehearsal_root

    if root != Path("/") and root.exists() and not root.is_dir():
        raise UsageError("usage.root", "--root is not a directory", value=str(root), expected="a directory")
    real = root.absolute()
    return LocalHost(real, allow_unconfined=is_rehearsal_root(real, os.environ))


def this_machine(host: LocalHost, python: str | None) -> MachineFacts:
    """Collect the facts of the machine behind a host."""
    from accel_install.facts.collect import collect

    return collect(host, python=python, environ=os.environ)


class Session:
    """Everything one call needs besides its arguments.

    Args:
        given: the shared options of the call.
    """

    def __init__(self, given: RunOptions) -> None:
        self.given = given
        self.settings: Settings = load_settings(os.environ)
        self.host = make_host(given.root)

    @cached_property
    def state_dir(self) -> Path:
        """Where journal, environments and lockfiles live."""
        chosen = self.given.state_dir or self.settings.state_dir
        if chosen is not None:
            return chosen.absolute()
        return default_state_dir(self.host.root, self.host.is_privileged())

    @property
    def cache_dir(self) -> Path:
        """The content-addressed cache; it belongs to this user, not to a stack."""
        return self.settings.cache_dir

    @cached_property
    def http(self) -> HttpClient:
        """The one HTTP client of this call."""
        from accel_install.fetch.http import HttpClient

        client = HttpClient()
        options = [option.partition("=")[2] for option in self.given.index]
        for url in (*options, *self.given.find_links, *self.settings.indexes.values(), self.settings.default_index or ""):
            client.learn(url)  # a cached page is not fetched, and its files still need them
        return client

    @cached_property
    def store(self) -> ArtifactStore:
        """Verified files by digest."""
        from accel_install.fetch.store import ArtifactStore

        return ArtifactStore(self.cache_dir / "artifacts")

    @cached_property
    def downloader(self) -> Downloader:
        """Downloads into the store."""
        from accel_install.fetch.download import Downloader

        return Downloader(self.store, self.http)

    def host_name(self) -> str | None:
        """Return the machine's host name: below a root what its /etc/hostname says, else this machine's."""
        if self.host.root != Path("/"):
            text = self.host.read_text("/etc/hostname")
            return text.strip() or None if text else None
        return platform.node() or None

    def tools(self) -> dict[str, str]:
        """Return the versions of the tools whose behaviour a lock rests on."""
        from importlib.metadata import version

        return {"accel-install": __version__, "uv": version("uv")}

    def index_client(self, indexes: Mapping[str, IndexSpec]) -> IndexClient:
        """Return the client for the named indexes of a recipe, with the replacements of this call."""
        from accel_install.resolve.client import IndexClient
        from accel_install.resolve.indexes import discover_indexes

        named = [f"{name}={url}" for name, url in self.settings.indexes.items()]
        config = discover_indexes(
            indexes,
            [*named, *self.given.index],
            find_links=self.given.find_links,
            environ=os.environ,
            home=home_dir(os.environ),
            configured_default=self.settings.default_index,
            cache_dir=self.cache_dir,
        )
        self.http.learn(config.default_url)
        return IndexClient(
            config,
            self.http,
            self.cache_dir,
            offline=self.given.offline,
            refresh=self.given.refresh,
            cache_ttl_s=self.settings.cache_ttl_s,
        )
