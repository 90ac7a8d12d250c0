# Shared by the scripts: a Python that is new enough, and an environment made with it.

# Print the first interpreter that is Python 3.10 or newer and can make environments.
find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.10; do
    [ -n "$candidate" ] || continue
    command -v "$candidate" >/dev/null 2>&1 || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      echo "$candidate"
      return 0
    fi
  done
  echo "error: no Python 3.10 or newer was found; install one, or name it: PYTHON=/path/to/python3.11 $0" >&2
  return 1
}

# Install Debian packages that are missing, where this user may do so; name them otherwise.
need_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local root=()
  [ "$(id -u)" -eq 0 ] || root=(sudo -n)
  if command -v apt-get >/dev/null 2>&1 && "${root[@]}" true 2>/dev/null; then
    echo "installing: ${missing[*]}" >&2
    "${root[@]}" apt-get update -qq >&2
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "error: these packages are missing: ${missing[*]}" >&2
    echo "hint: sudo apt-get install ${missing[*]}" >&2
    return 1
  fi
}

# Make a virtual environment at $1 unless a working one is there. On Debian, ensurepip is a package of its own.
make_venv() {
  local venv="$1" python
  if [ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    return 0
  fi
  python="$(find_python)"
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    need_packages python3-venv
  fi
  "$python" -m venv --clear "$venv"
}
