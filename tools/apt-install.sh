#!/usr/bin/env bash
# Install Debian packages without a question and without starting any service.
# Usage: tools/apt-install.sh PACKAGE...   Exit 1 when this user or machine cannot install.
set -euo pipefail

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n -- "$@"; fi
}

command -v apt-get >/dev/null || exit 1
as_root true 2>/dev/null || exit 1

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    # 101 forbids package scripts to start services; it is taken away again below.
    trap 'as_root rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
fi

echo "installing: $*"
quietly=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
{
    as_root "${quietly[@]}" update &&
        as_root "${quietly[@]}" install --yes --no-install-recommends "$@" >/dev/null
} </dev/null || exit 1
