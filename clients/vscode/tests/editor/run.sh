#!/usr/bin/env bash
# Tries the extension in a real VS Code in a real browser: code-server from npm, Chromium from Debian.
# Needs Node 20 or newer, npm, a C++ compiler, python3 and the built server (`cargo build`, or TACKROOM_BIN).
# SHOTS names a directory for pictures; CODE_SERVER_CACHE where code-server is kept between runs.
set -euo pipefail
cd "$(dirname "$0")/../.."

VERSION=4.100.3 # VS Code 1.100.3: the last one for Node 20
cache=${CODE_SERVER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tackroom-code-server-$VERSION}

if ! command -v chromium >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
fi

# What its own installation would fetch from elsewhere (a search program) is not needed here.
install_code_server() {
  rm -rf "$cache.new"
  mkdir -p "$cache.new"
  (
    cd "$cache.new"
    npm pack --silent "code-server@$VERSION" >/dev/null
    tar -xzf code-server-*.tgz --strip-components=1
    rm code-server-*.tgz
    npm ci --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error
    npm rebuild --loglevel=error argon2
    cd lib/vscode
    npm i --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error
    npm rebuild --loglevel=error @vscode/spdlog native-watchdog @parcel/watcher
    # What it runs after having been built fails outside of VS Code's own tree.
    npm rebuild node-pty >/dev/null 2>&1 || test -f node_modules/node-pty/build/Release/pty.node
    ln -sfn node_modules node_modules.asar
  )
  mv "$cache.new" "$cache"
}
[ -f "$cache/out/node/entry.js" ] || install_code_server

npm ci --no-audit --no-fund --loglevel=error
npm run --silent package >/dev/null
node esbuild.mjs editor
CODE_SERVER=$cache exec node --test --test-timeout=300000 build/editor.mjs
