"""Stand-ins for the Ascend layers of a scratch machine: sysfs, npu-smi, and vendor packages as real .run files.

File names and layouts are the vendor's; the contents are a few lines that say what they are.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from accel_install.rehearse.selfextract import build_run_file

__all__ = ["StandInVersions", "make_machine", "make_packages"]

_CARDS = 8
_LABEL = "stand-in made by accel-install rehearse"

_NPU_SMI = r"""#!/bin/sh
# STAND-IN for npu-smi, made for a rehearsal: prints the layout of an Atlas A2 with 8 x 910B2.
info="${ACCEL_INSTALL_ROOT:-}/usr/local/Ascend/driver/version.info"
if [ ! -f "$info" ]; then
  echo "dcmi module initialize failed. ret is -8005"
  exit 255
fi
v=$(sed -n 's/^package_version=//p' "$info")
line='+------------------------------------------------------------------------------------------------+'
thin='+---------------------------+---------------+----------------------------------------------------+'
thick='+===========================+===============+====================================================+'
echo "$line"
printf '| npu-smi %-16s Version: %-61s |\n' "$v" "$v"
echo "$thin"
echo '| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|'
echo '| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |'
echo "$thick"
for n in 0 1 2 3 4 5 6 7; do
  printf '| %-5s 910B2               | OK            | 93.0        39                0    / 0             |\n' "$n"
  printf '| 0                         | 0000:C%s:00.0  | 0           0    / 0          3394 / 65536         |\n' "$((n + 1))"
  echo "$thick"
done
echo "$thin"
echo '| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |'
echo "$thick"
echo '| No running processes found in NPU 0                                                            |'
echo "$thick"
"""

_DRIVER_INFO = """Version={driver}
ascendhal_version=7.35.23
Innerversion=V100R001C23SPC002B220
compatible_version=[V100R001C21],[V100R001C23],[V100R001C25],[V100R001C10]
compatible_version_fw=[7.0.0,8.9.9]
package_version={driver}
"""
_FIRMWARE_INFO = """Version={firmware}
firmware_version=1.0
package_version={driver}
compatible_version_drv=[24.1,24.1.],[25.0,25.0.],[25.2,25.2.],[26.0,26.0.],[26.1,26.1.]
"""
_INSTALL_INFO = """package_name={package}
version={version}
innerversion=V100R001C10SPC001B250
compatible_version=[V100R001C21],[V100R001C22],[V100R001C23],[V100R001C25],[V100R001C10]
arch={arch}
os=linux
path={path}
"""
_SET_ENV = "# stand-in\nexport {name}={path}\n"


@dataclass(frozen=True)
class StandInVersions:
    """Versions of the layers that the packages install."""

    driver: str
    firmware: str
    cann: str
    nnal: str


def make_machine(root: Path, arch: str) -> None:
    """Fill a scratch root with what a bare server shows: system files and eight cards on the bus, no driver."""
    files = {
        "etc/os-release": 'ID="openEuler"\nVERSION_ID="22.03"\nPRETTY_NAME="openEuler 22.03 (stand-in of a rehearsal)"\n',
        "etc/hostname": "rehearsal\n",
        "proc/meminfo": "MemTotal:       528000000 kB\n",
        "proc/sys/kernel/osrelease": "5.10.0-60.18.0.50.oe2203\n",
        "proc/sys/kernel/arch": f"{arch}\n",
        "proc/1/cgroup": "0::/init.scope\n",
        "usr/local/README": f"{_LABEL}\n",
        "tmp/README": f"{_LABEL}\n",
    }
    for n in range(1, _CARDS + 1):
        folder = f"sys/bus/pci/devices/0000:c{n}:00.0"
        files |= {f"{folder}/vendor": "0x19e5\n", f"{folder}/device": "0xd802\n", f"{folder}/class": "0x120000\n"}
    for name, text in files.items():
        _write(root / name, text)
    _program(root / "usr/local/sbin/npu-smi", _NPU_SMI)
    _program(root / "usr/bin/python3", f'#!/bin/sh\n# {_LABEL}: the real interpreter\nexec {shlex.quote(_interpreter())} "$@"\n')


def _interpreter() -> str:
    """Return this machine's interpreter outside of any environment, so that the scratch machine has one of its own."""
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return str(base if base.is_file() else Path(sys.executable).resolve())


def _program(path: Path, text: str) -> None:
    _write(path, text)
    path.chmod(0o755)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_packages(folder: Path, versions: StandInVersions, arch: str, chip: str = "910b") -> list[Path]:
    """Write the vendor packages of all layers and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    v = versions
    cann = f"cann-{v.cann}"
    toolkit_path = f"/usr/local/Ascend/{cann}"
    return [
        _package(
            folder / f"Ascend-hdk-{chip}-npu-driver_{v.driver}_linux-{arch.replace('_', '-')}.run",
            {"driver/version.info": _DRIVER_INFO.format(driver=v.driver)},
            _DRIVER_EXTRA,
        ),
        _package(
            folder / f"Ascend-hdk-{chip}-npu-firmware_{v.firmware}.run",
            {"firmware/version.info": _FIRMWARE_INFO.format(firmware=v.firmware, driver=v.driver)},
        ),
        _package(
            folder / f"Ascend-cann-toolkit_{v.cann}_linux-{arch}.run",
            {
                f"{cann}/{arch}-linux/ascend_toolkit_install.info": _info("Ascend-cann-toolkit", v.cann, arch, toolkit_path),
                f"{cann}/set_env.sh": _SET_ENV.format(name="ASCEND_TOOLKIT_HOME", path="/usr/local/Ascend/cann"),
            },
            f'ln -sfn {cann} "$path/cann"\n',
        ),
        _package(
            folder / f"Ascend-cann-{chip}-ops_{v.cann}_linux-{arch}.run",
            {f"{cann}/{arch}-linux/ascend_ops_install.info": _info(f"Ascend-cann-{chip}-ops", v.cann, arch, toolkit_path)},
        ),
        _package(
            folder / f"Ascend-cann-nnal_{v.nnal}_linux-{arch}.run",
            {
                f"nnal/atb/{v.nnal}/version.info": f"    Ascend-cann-atb : {v.nnal}\n    Platform : {arch}\n",
                "nnal/atb/set_env.sh": _SET_ENV.format(name="ATB_HOME_PATH", path="/usr/local/Ascend/nnal/atb/latest"),
            },
            f'ln -sfn {v.nnal} "$path/nnal/atb/latest"\n',
        ),
    ]


_DRIVER_EXTRA = """info="${ACCEL_INSTALL_ROOT:-}/etc/ascend_install.info"
mkdir -p "$(dirname "$info")"
printf 'UserName=HwHiAiUser\\nDriver_Install_Type=full\\nDriver_Install_Path_Param=/usr/local/Ascend\\n' > "$info"
"""


def _info(package: str, version: str, arch: str, path: str) -> str:
    return _INSTALL_INFO.format(package=package, version=version, arch=arch, path=path)


def _package(path: Path, files: Mapping[str, str], extra: str = "") -> Path:
    """Build one package: its script copies the files below the install path, then runs `extra`."""
    lines = ['mode="$1"; path="$2"; here="$3"', f'echo "{_LABEL}: $mode {path.name}"']
    for name in files:
        lines.append(f'mkdir -p "$path/$(dirname {name})" && cp "$here/{name}" "$path/{name}" || exit 3')
    script = "#!/bin/sh\n" + "\n".join(lines) + "\n" + extra + "exit 0\n"
    return build_run_file(path, {name: text.encode() for name, text in files.items()}, script, path.name)
