#!/usr/bin/env bash
# usage: make_opencode_home.sh OUT_HOME [N_EXTRA_PLAIN=3]
# Env: OPENCODE_BIN, PORT (18713), DEMO (OUT_HOME/demo: any directory), DEMO_GIT (OUT_HOME/demo-git: git repo with one commit)
# Builds OUT_HOME/.local/share/opencode/opencode.db with: plain, tool call, resumed, forked, subagent child, subdirectory, git project, archived, titled, N plain.
set -euo pipefail
H=${1:?out home}; N=${2:-3}; BIN=${OPENCODE_BIN:?opencode}; PORT=${PORT:-18713}; DEMO=${DEMO:-$1/demo}; DEMO_GIT=${DEMO_GIT:-$1/demo-git}
T=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$H/.config/opencode" "$DEMO/sub" "$DEMO_GIT/sub"
unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME OPENCODE_DB || true
export HOME="$H" OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1
if [ ! -d "$DEMO_GIT/.git" ]; then (cd "$DEMO_GIT" && git init -q && echo demo > README.md && git add -A && GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' git -c user.name=demo -c user.email=demo@example.invalid commit -qm init); fi
cat > "$H/.config/opencode/opencode.json" <<C
{"autoupdate":false,"share":"disabled","model":"fake/fake-model","small_model":"fake/fake-model",
"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"Fake","options":{"baseURL":"http://127.0.0.1:$PORT/v1","apiKey":"dummy"},"models":{"fake-model":{"name":"Fake Model","limit":{"context":128000,"output":4096}}}}},
"permission":{"bash":"allow","edit":"allow"}}
C
python3 "$T/fake_openai.py" "$PORT" ${FAKE_LOG:-} & SRV=$!
trap 'kill $SRV 2>/dev/null || true' EXIT
for i in 1 2 3 4 5 6 7 8 9 10; do (echo > /dev/tcp/127.0.0.1/$PORT) 2>/dev/null && break; sleep 0.3; done
run() { local d=$1; shift; (cd "$d" && timeout 90 "$BIN" run --format json "$@" </dev/null 2>/dev/null) | python3 -c 'import sys,json
i=None
for l in sys.stdin:
    try: i=i or json.loads(l).get("sessionID")
    except Exception: pass
print(i)'; }
A=$(run "$DEMO" "Plain session: say hello to the demo"); echo "plain $A"
B=$(run "$DEMO" "USE_TOOL please run a command"); echo "tool $B"
C=$(run "$DEMO" "Resumed session: first prompt"); echo "resumed $C"
run "$DEMO" -s "$C" "second prompt after resume" >/dev/null
D=$(run "$DEMO" --session "$A" --fork "Forked: a new prompt in the fork"); echo "forked $D"
E=$(run "$DEMO/sub" "Subdirectory session: where am I"); echo "subdir $E"
F=$(run "$DEMO" "USE_SUBAGENT please"); echo "subagent-parent $F"
G=$(run "$DEMO_GIT" "Git project session"); echo "git $G"
I=$(run "$DEMO_GIT/sub" "Git project subdirectory session"); echo "git-sub $I"
J=$(run "$DEMO" --title "My chosen title" "Titled session"); echo "titled $J"
K=$(run "$DEMO" "Archived session: to be archived"); echo "archived $K"
for i in $(seq 1 "$N"); do X=$(run "$DEMO" "Extra plain session number $i"); echo "extra $X"; done
# archive through the HTTP API
P=$((PORT+100)); (cd "$DEMO" && exec "$BIN" serve --port $P >"$H/serve.log" 2>&1) & OS=$!
for i in $(seq 1 40); do curl -s -m 2 "http://127.0.0.1:$P/session" >/dev/null 2>&1 && break; sleep 0.3; done
curl -s -m 10 -X PATCH "http://127.0.0.1:$P/session/$K" -H 'content-type: application/json' -d "{\"time\":{\"archived\":$(date +%s)000}}" | cut -c1-300; echo
kill $OS 2>/dev/null || true; wait $OS 2>/dev/null || true
