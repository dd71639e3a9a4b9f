#!/usr/bin/env bash
# What must hold for this client. Needs Node, npm and the built server (`cargo build`, or TACKROOM_BIN).
set -euo pipefail
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
npm test
npm pack --dry-run
