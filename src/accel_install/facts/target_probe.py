# Run in the target interpreter by accel-install: says what that interpreter is, as one JSON line.
# Standard library only; Python 3.6 and later.
import json
import os
import platform
import sys
import sysconfig


def libc():
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        if name == "glibc":
            return ["glibc", version]
    except (AttributeError, ValueError, OSError):
        pass
    if "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "") or "musl" in (sysconfig.get_config_var("SOABI") or ""):
        return ["musl", None]
    name, version = platform.libc_ver()
    return [name or None, version or None]


def main():
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    abi = "cp%d%d" % sys.version_info[:2]
    if free_threaded:
        abi += "t"
    elif sys.version_info[:2] < (3, 8):
        abi += getattr(sys, "abiflags", "")
    include = sysconfig.get_paths().get("include") or ""
    found = {
        "probe": 1,
        "executable": sys.executable,
        "version": "%d.%d.%d" % sys.version_info[:3],
        "implementation": sys.implementation.name,
        "abi": abi,
        "free_threaded": free_threaded,
        "arch": platform.machine(),
        "libc": libc(),
        "prefix": sys.prefix,
        "base_prefix": getattr(sys, "base_prefix", sys.prefix),
        "purelib": sysconfig.get_paths().get("purelib"),
        "has_headers": os.path.isfile(os.path.join(include, "Python.h")),
        "has_venv": True,
    }
    print(json.dumps(found))


main()
