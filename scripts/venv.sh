#!/bin/sh
# Make the virtual environment and install the locked packages, once.
#
#   scripts/venv.sh run    what the console needs to run
#   scripts/venv.sh dev    that, and what tests and checks need
#
# PYTHON names the interpreter, VENV the folder (default .venv). A second call
# with unchanged lock files installs nothing.
set -u

kind=${1:-run}
venv=${VENV:-.venv}
log=$venv/install.log

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if command -v "$name" >/dev/null 2>&1 && new_enough "$name"; then
            printf '%s\n' "$name"
            return
        fi
    done
    found=$("${PYTHON:-python3}" --version 2>&1) || found="no Python"
    say "hermes_web needs Python 3.11 or newer and found $found." \
        "Install one, or name it: make run PYTHON=/path/to/python3.11"
    return 1
}

make_venv() {
    if [ -x "$venv/bin/python" ] && new_enough "$venv/bin/python"; then
        return
    fi
    python=$(find_python) || exit 1
    mkdir -p "$venv" 2>/dev/null && [ -w "$venv" ] ||
        fail "The folder $(pwd) is read-only, so $venv cannot be made in it." \
            "Make it writable, or name another place: make run VENV=/path/to/venv"
    say "Making the virtual environment $venv"
    "$python" -m venv --clear "$venv" >/dev/null 2>&1 ||
        fail "$python cannot make a virtual environment here." \
            "On Debian: apt-get install python3-venv. Otherwise see: $python -m venv $venv"
}

install_locked() { # lock file
    kept=$venv/$1.installed
    if cmp -s "$1" "$kept"; then
        return
    fi
    say "Installing the packages of $1 (once, about a minute)"
    if "$venv/bin/python" -m pip install --disable-pip-version-check \
        --require-hashes -r "$1" >"$log" 2>&1; then
        cp "$1" "$kept"
        return
    fi
    reason=$(grep '^ERROR:' "$log" | grep -v 'No matching distribution' | head -n 1)
    fail "A package could not be had, so nothing was started." \
        "${reason:-$(tail -n 1 "$log")}" \
        "Check the way to the package index and try again; $log has the whole record."
}

case $kind in run | dev) ;; *) fail "Usage: scripts/venv.sh run|dev" ;; esac
make_venv
if [ "$kind" = dev ]; then
    install_locked requirements-dev.txt
    # Both lock files name the same versions: the larger holds the smaller.
    cp requirements.txt "$venv/requirements.txt.installed"
else
    install_locked requirements.txt
fi
