#!/usr/bin/env bash
# usage: make_codex_home.sh OUT_HOME [N_EXTRA_PLAIN=3]
# Env: CODEX_BIN (the program), PORT (default 18711), DEMO (default OUT_HOME/demo)
# Builds OUT_HOME/.codex with real rollouts: plain, tool call, resumed, subdirectory cwd, named, forked, archived, subagent, N plain
# ones; reverted, forks of a reverted one, reverted with nothing said since, reverted to nothing.
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
  start() { echo '{"method":"thread/start","params":{"historyMode":"paginated"}}'; }
  prompt() { # thread, text
    echo "{\"method\":\"turn/start\",\"params\":{\"threadId\":\"$1\",\"input\":[{\"type\":\"text\",\"text\":\"$2\"}]}}"
    echo '{"sleep":2}'; }
  revert() { echo "{\"method\":\"thread/revert\",\"params\":{\"threadId\":\"$1\",\"beforeTurnId\":\"$2\"}}"; }
  start                                                                      # 4
  for text in "Alpha: paint the fence" "Beta: paint the gate" "Gamma: paint the shed"; do prompt '$4.thread.id' "$text"; done
  revert '$4.thread.id' '$7.turn.id'                                         # 8
  prompt '$4.thread.id' "Delta: paint the door"                              # 9
  echo '{"method":"thread/fork","params":{"threadId":"$4.thread.id"}}'       # 10
  prompt '$10.thread.id' "Zeta: in the fork"                                 # 11
  echo '{"method":"thread/fork","params":{"threadId":"$4.thread.id"}}'       # 12
  start                                                                      # 13
  for text in "One: sweep the yard" "Two: sweep the path"; do prompt '$13.thread.id' "$text"; done
  revert '$13.thread.id' '$15.turn.id'                                       # 16
  start                                                                      # 17
  prompt '$17.thread.id' "Uno: wash the car"                                 # 18
  revert '$17.thread.id' '$18.turn.id'                                       # 19
  start                                                                      # 20
  for text in "A1: feed the cat" "A2: feed the dog"; do prompt '$20.thread.id' "$text"; done
  revert '$20.thread.id' '$22.turn.id'                                       # 23
  revert '$20.thread.id' '$21.turn.id'                                       # 24
  prompt '$20.thread.id' "A3: feed the fish"                                 # 25
  echo '{"method":"thread/archive","params":{"threadId":"$20.thread.id"}}'
} | (cd "$DEMO" && CUT=200 python3 "$T/codex_rpc.py" "$BIN" "$H/rpc-make.jsonl") || true
