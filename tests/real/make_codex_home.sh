#!/usr/bin/env bash
# usage: make_codex_home.sh OUT_HOME [N_EXTRA_PLAIN=3]
# Env: CODEX_BIN (the program), PORT (default 18711), DEMO (default OUT_HOME/demo)
# Builds OUT_HOME/.codex with real rollouts: plain, tool call, resumed, subdirectory cwd, named, forked, archived, subagent, N plain ones.
set -euo pipefail
H=${1:?out home}; N=${2:-3}; BIN=${CODEX_BIN:?codex}; PORT=${PORT:-18711}; DEMO=${DEMO:-$1/demo}
T=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$H/.codex" "$DEMO/sub"
export HOME="$H" CODEX_HOME="$H/.codex" FAKE_KEY=dummy
cat > "$CODEX_HOME/config.toml" <<C
model = "fake-model"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:$PORT/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
requires_openai_auth = false
[analytics]
enabled = false
[feedback]
enabled = false
C
python3 "$T/fake_openai.py" "$PORT" ${FAKE_LOG:-} & SRV=$!
trap 'kill $SRV 2>/dev/null || true' EXIT
for i in 1 2 3 4 5 6 7 8 9 10; do (echo > /dev/tcp/127.0.0.1/$PORT) 2>/dev/null && break; sleep 0.3; done
run() { # dir, args...
  local d=$1; shift; (cd "$d" && timeout 60 "$BIN" exec --skip-git-repo-check --json "$@" </dev/null 2>/dev/null) | python3 -c 'import sys,json
for l in sys.stdin:
    try: o=json.loads(l)
    except Exception: continue
    if o.get("type")=="thread.started": print(o["thread_id"])'; }
A=$(run "$DEMO" "Plain session: say hello to the demo"); echo "plain $A"
B=$(run "$DEMO" "USE_TOOL please run a command"); echo "tool $B"
C=$(run "$DEMO" "Resumed session: first prompt"); echo "resumed $C"
(cd "$DEMO" && timeout 60 "$BIN" exec --skip-git-repo-check --json resume "$C" "second prompt after resume" </dev/null >/dev/null 2>&1)
D=$(run "$DEMO/sub" "Subdirectory session: where am I"); echo "subdir $D"
E=$(run "$DEMO" "Named session: to be renamed"); echo "named $E"
F=$(run "$DEMO" "Archived session: to be archived"); echo "archived $F"
G=$(run "$DEMO" "USE_SUBAGENT spawn one please"); echo "subagent-parent $G"
(cd "$DEMO" && timeout 30 "$BIN" archive "$F" </dev/null >/dev/null 2>&1) || true
for i in $(seq 1 "$N"); do X=$(run "$DEMO" "Extra plain session number $i"); echo "extra $X"; done
{ echo "{\"method\":\"thread/name/set\",\"params\":{\"threadId\":\"$E\",\"name\":\"My chosen name\"}}"
  echo "{\"method\":\"thread/fork\",\"params\":{\"threadId\":\"$A\"}}"
  echo "{\"method\":\"turn/start\",\"params\":{\"threadId\":\"\$2.thread.id\",\"input\":[{\"type\":\"text\",\"text\":\"Forked: a new prompt in the fork\"}]}}"
  echo '{"sleep":4}'
} | (cd "$DEMO" && CUT=200 python3 "$T/codex_rpc.py" "$BIN" "$H/rpc-make.jsonl") || true
