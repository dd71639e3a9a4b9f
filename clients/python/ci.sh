#!/usr/bin/env bash
# Tests the Python client, with $TACKROOM_BIN or the repository's debug build. Needs Python 3.11 and PyPI.
set -euo pipefail
cd "$(dirname "$0")"
bin=${TACKROOM_BIN:-../../target/debug/tackroom}
TACKROOM_BIN=$(realpath "$bin")
export TACKROOM_BIN

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"${PYTHON:-python3}" -m venv "$place/venv" 2>/dev/null || {
    apt-get update -qq && apt-get install -y -qq python3-venv
    "${PYTHON:-python3}" -m venv "$place/venv"
}
export PATH="$place/venv/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt

# The package is tested as it is handed out.
python -m build --no-isolation --outdir "$place/dist" . >"$place/build.log" || { cat "$place/build.log"; exit 1; }
pip install --quiet --disable-pip-version-check --no-index "$place"/dist/*.whl
mypy --cache-dir "$place/mypy" src scripts tests
pytest -p no:cacheprovider
