"""The trust store: certificates are always checked, against the system's authorities or the user's own."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

__all__ = ["tls_context"]

# Where distributions keep their bundle, for a Python whose OpenSSL was built to look elsewhere (as Go's
# crypto/x509 lists them): Debian and Ubuntu, openEuler and Fedora, RHEL, openSUSE, Alpine.
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def tls_context() -> ssl.SSLContext:
    """Return a verifying context that honours SSL_CERT_FILE and SSL_CERT_DIR, else the system's store."""
    context = ssl.create_default_context()
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return context
    paths = ssl.get_default_verify_paths()
    if paths.cafile is None and not _has_entries(paths.capath):
        bundle = next((name for name in _BUNDLES if Path(name).is_file()), None)
        if bundle is not None:
            context.load_verify_locations(cafile=bundle)
    return context


def _has_entries(directory: str | None) -> bool:
    return directory is not None and any(Path(directory).glob("*"))
