#!/usr/bin/env bash
# What must hold for this extension. Needs Node 20 or newer, npm and the built server (`cargo build`, or TACKROOM_BIN).
# tests/editor/run.sh tries it in a real editor besides.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
npm test
npm run package
