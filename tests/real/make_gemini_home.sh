#!/usr/bin/env bash
# usage: make_gemini_home.sh OUT_HOME [N_EXTRA_PLAIN=3]
# Env: GEMINI_BIN, PORT (18712), DEMO (OUT_HOME/demo)
# Builds OUT_HOME/.gemini with: plain, tool call, resumed, subdirectory cwd, explicit --session-id, N plain ones.
set -euo pipefail
H=${1:?out home}; N=${2:-3}; BIN=${GEMINI_BIN:?gemini}; PORT=${PORT:-18712}; DEMO=${DEMO:-$1/demo}
T=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$H/.gemini" "$DEMO/sub"
export HOME="$H" GEMINI_API_KEY=dummy GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$PORT GEMINI_CLI_TRUST_WORKSPACE=true
cat > "$H/.gemini/settings.json" <<'C'
{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"general":{"disableAutoUpdate":true,"enableAutoUpdate":false}}
C
python3 "$T/fake_gemini.py" "$PORT" ${FAKE_LOG:-} & SRV=$!
trap 'kill $SRV 2>/dev/null || true' EXIT
for i in 1 2 3 4 5 6 7 8 9 10; do (echo > /dev/tcp/127.0.0.1/$PORT) 2>/dev/null && break; sleep 0.3; done
run() { local d=$1; shift; (cd "$d" && timeout 90 "$BIN" -m gemini-2.5-flash -y "$@" </dev/null 2>/dev/null | tail -1); }
run "$DEMO" -p "Plain session: say hello to the demo"
run "$DEMO" -p "USE_TOOL please run a command"
run "$DEMO" -p "Resumed session: first prompt"
run "$DEMO" -r latest -p "second prompt after resume"
run "$DEMO/sub" -p "Subdirectory session: where am I"
[ -n "${OLD:-}" ] || run "$DEMO" --session-id 11111111-2222-4333-8444-555555555555 -p "Session with a chosen id"
for i in $(seq 1 "$N"); do run "$DEMO" -p "Extra plain session number $i"; done
