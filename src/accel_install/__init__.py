"""Provision AI accelerator servers from bare metal to a proven stack."""

from accel_install.version import __version__

__all__ = ["__version__"]
