#!/usr/bin/env bash
# Create .venv with Tenure, every extra, the applications and the development tools.
# Silent when nothing changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stamp=.venv/.setup-stamp

# What the environment was made from, and where: a moved .venv does not work.
fingerprint() {
    { pwd && cat pyproject.toml apps/*/pyproject.toml constraints.txt tools/setup.sh; } | cksum
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    echo "Python 3.11 or newer is needed; install it or name it: make setup PYTHON=..." >&2
    return 1
}

# Debian ships venv and ensurepip in a package of their own.
require_venv() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null && return
    local package
    package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    tools/apt-install.sh "$package" && "$1" -c 'import ensurepip, venv' && return
    echo "Python's venv module is incomplete. Please install: $package" >&2
    return 1
}

if [ "$(cat "$stamp" 2>/dev/null)" = "$(fingerprint)" ]; then exit 0; fi

if [ "$(cat .venv/.made-in 2>/dev/null)" != "$PWD" ]; then
    python=$(find_python)
    require_venv "$python"
    echo "making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
    pwd >.venv/.made-in
fi
echo "installing what constraints.txt names"
pip=(.venv/bin/python -m pip --quiet --disable-pip-version-check --no-input install -c constraints.txt)
# The build tools come first and are shared, so that they too have the versions of constraints.txt.
"${pip[@]}" hatchling editables
"${pip[@]}" --no-build-isolation --editable '.[all,dev]'
# In a second call: the applications need a Tenure that is installed already, not one of an index.
apps=()
for app in apps/*/; do apps+=(--editable "$app"); done
"${pip[@]}" --no-build-isolation "${apps[@]}"
fingerprint >"$stamp"
