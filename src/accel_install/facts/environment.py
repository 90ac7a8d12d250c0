"""The variables that steer accelerators, and nothing that could be a secret. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["accelerator_variables"]

_PREFIXES = (
    "ASCEND_",
    "CUDA_",
    "HCCL_",
    "HIP_",
    "MLU_",
    "MUSA_",
    "NCCL_",
    "PYTORCH_",
    "ROCR_",
    "TORCH_",
)
_NAMES = frozenset({"ATB_HOME_PATH", "LD_LIBRARY_PATH", "MACA_PATH", "NEUWARE_HOME", "PYTHONPATH"})
_SECRET_WORDS = ("TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "API_KEY", "ACCESS_KEY")
_CREDENTIALS = re.compile(r"://[^/\s@]+@")


def accelerator_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the accelerator-related variables by name, without those that name a secret or hold credentials."""
    about = {name: value for name, value in sorted(environ.items()) if _is_about_accelerators(name)}
    return {name: value for name, value in about.items() if not _is_secret(name, value)}


def _is_about_accelerators(name: str) -> bool:
    return name in _NAMES or name.startswith(_PREFIXES)


def _is_secret(name: str, value: str) -> bool:
    return any(word in name for word in _SECRET_WORDS) or _CREDENTIALS.search(value) is not None
