#!/usr/bin/env bash
# The servers that the tests start for themselves, and promtool, which checks the alert rules.
# Silent when nothing is missing.
# The servers and the browser that the tests start for themselves. Silent when nothing is missing.
# A server named by TENURE_TEST_POSTGRES, _MYSQL or _RABBITMQ is not needed here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

OLDEST_POSTGRES=15
PATH="$PATH:/usr/sbin:/usr/local/sbin"

has_postgres() {
    [ -n "${TENURE_TEST_POSTGRES:-}" ] && return
    local folder version
    for folder in /usr/lib/postgresql/*/bin "$(dirname "$(command -v initdb || echo /nowhere/)")"; do
        [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ] || continue
        version=$("$folder/postgres" --version | grep -oE '[0-9]+' | head -n 1)
        [ "$version" -ge "$OLDEST_POSTGRES" ] && return
    done
    return 1
}

has_mariadb() {
    [ -n "${TENURE_TEST_MYSQL:-}" ] && return
    command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null
}

has_rabbitmq() {
    [ -n "${TENURE_TEST_RABBITMQ:-}" ] && return
    [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] && command -v epmd >/dev/null
}

has_promtool() {
    command -v promtool >/dev/null
}

# The browser of the page's tests: 96 MB to fetch, 306 MB on disk.
has_chromium() {
    local program
    for program in chromium-headless-shell chromium google-chrome; do
        command -v "$program" >/dev/null && return
    done
    return 1
}

find_missing() {
    missing=()
    has_postgres || missing+=(postgresql)
    has_mariadb || missing+=(mariadb-server)
    has_rabbitmq || missing+=(rabbitmq-server)
    has_promtool || missing+=(prometheus)
    has_chromium || missing+=(chromium-headless-shell)
}

find_missing
[ "${#missing[@]}" -eq 0 ] && exit 0
if ./apt-install.sh "${missing[@]}"; then find_missing; fi
[ "${#missing[@]}" -eq 0 ] && exit 0

{
    echo "The tests start servers and a browser of their own, and these are missing:"
    for package in "${missing[@]}"; do
        case $package in
            postgresql) echo "  PostgreSQL $OLDEST_POSTGRES or newer   apt-get install postgresql" ;;
            mariadb-server) echo "  MariaDB                  apt-get install mariadb-server" ;;
            prometheus) echo "  promtool                 apt-get install prometheus" ;;
            rabbitmq-server) echo "  RabbitMQ                 apt-get install rabbitmq-server" ;;
            chromium-headless-shell)
                echo "  Chromium                 apt-get install chromium-headless-shell" ;;
        esac
    done
    echo "Or name running servers in TENURE_TEST_POSTGRES, TENURE_TEST_MYSQL and TENURE_TEST_RABBITMQ."
} >&2
if [ "${CI:-}" = true ]; then exit 1; fi
echo "Going on without them: their tests will be skipped." >&2
