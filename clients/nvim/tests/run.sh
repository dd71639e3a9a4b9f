#!/usr/bin/env bash
# Tests of the plugin in a real Neovim, with the real server, in homes of their own. Words: names of tests, in part.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/nvim.sh"

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
# Nothing of whoever runs this: not their sessions, not their configuration.
exec_env=(HOME="$home" PATH="$PATH" TMPDIR="$home" LANG=C.UTF-8 PWD="$here" NVIM="$NVIM" TACKROOM_BIN="$(realpath "$TACKROOM_BIN")")
[ -z "${VIMRUNTIME:-}" ] || exec_env+=(VIMRUNTIME="$VIMRUNTIME")
cd "$here"
env -i "${exec_env[@]}" "$NVIM" --headless --clean -l "$here/run.lua" "$@"
