# Run in the target interpreter by accel-install: says what that interpreter is, as one JSON line.
# Standard library only; Python 3.6 and later.
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig


def musl_version():
    folder = "/lib"
    try:
        loaders = sorted(n for n in os.listdir(folder) if n.startswith("ld-musl-"))
        for name in loaders:
            child = subprocess.Popen([os.path.join(folder, name)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            text = b"".join(child.communicate()).decode("ascii", "replace")
            found = re.search(r"Version (\d+\.\d+)", text)
            if found:
                return found.group(1)
    except OSError:
        pass
    return None


def libc():
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        if name == "glibc":
            return [name, ".".join(version.split(".")[:2])]
    except (AttributeError, ValueError, OSError):
        pass
    if "musl" in "%s %s" % (sysconfig.get_config_var("HOST_GNU_TYPE"), sysconfig.get_config_var("SOABI")):
        return ["musl", musl_version()]
    name, version = platform.libc_ver()
    return [name or None, version or None]


def has_module(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


def main():
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    abi = "cp%d%d" % sys.version_info[:2]
    if free_threaded:
        abi += "t"
    elif sys.version_info[:2] < (3, 8):
        abi += getattr(sys, "abiflags", "")
    include = sysconfig.get_paths().get("include") or ""
    found = {
        "probe": "accel-install/1",
        "executable": sys.executable,
        "version": "%d.%d.%d" % sys.version_info[:3],
        "implementation": sys.implementation.name,
        "abi": abi,
        "free_threaded": free_threaded,
        "arch": platform.machine(),
        "bits": 64 if sys.maxsize > 2**32 else 32,
        "libc": libc(),
        "prefix": sys.prefix,
        "base_prefix": getattr(sys, "base_prefix", sys.prefix),
        "purelib": sysconfig.get_paths().get("purelib"),
        "has_headers": os.path.isfile(os.path.join(include, "Python.h")),
        "has_venv": has_module("venv") and has_module("ensurepip"),
    }
    print(json.dumps(found))


main()
