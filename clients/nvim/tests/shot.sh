#!/usr/bin/env bash
# Shows the plugin at work in a terminal, on the sample of `tackroom demo` and a small live runtime, and puts what the
# terminal shows into README.md. With `--look` it prints the screens with their colours and changes nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/nvim.sh"
plugin=$(cd "$here/.." && pwd)
base=$(mktemp -d)
# Its name is what the runtime is called.
home=$base/roof
screens=$home/screens
session=tackroom-shot-$$
sleeper='' runtime=''
cleanup() {
  tmux -L "$session" kill-server 2>/dev/null || true
  [ -z "$sleeper" ] || kill "$sleeper" 2>/dev/null || true
  [ -z "$runtime" ] || kill "$runtime" 2>/dev/null || true
  rm -rf "$base"
}
trap cleanup EXIT

mkdir -p "$home/.claude/sessions" "$screens"
cp -r "$plugin/../../demo/claude/projects" "$home/.claude/projects"
for file in "$plugin"/../../demo/codex/sessions/*.jsonl; do
  # Codex tells its sessions by when they began, in the name too.
  began=$(sed -n '1s/^{"timestamp":"\([^.]*\).*/\1/p' "$file")
  directory=$home/.codex/sessions/$(date -ud "${began}Z" +%Y/%m/%d)
  mkdir -p "$directory"
  cp "$file" "$directory/rollout-${began//:/-}-$(basename "$file")"
done
sleep 600 &
sleeper=$!
python3 - "$home" "$sleeper" <<'PY'
import json, sys
home, pid = sys.argv[1], sys.argv[2]
start = open(f"/proc/{pid}/stat").read().rpartition(") ")[2].split()[19]
record = {"pid": int(pid), "sessionId": "6513270e-269e-4d37-b2a7-4de452e6b438", "cwd": "/home/demo/weather-station",
          "name": "gauge", "status": "waiting", "waitingFor": "permission prompt", "procStart": start}
json.dump(record, open(f"{home}/.claude/sessions/{pid}.json", "w"))
PY
python3 "$here/fake_runtime.py" "$home" &
runtime=$!

export HOME=$home
tmux_() { tmux -L "$session" -f /dev/null "$@"; }
cat >"$home/init.lua" <<LUA
vim.opt.runtimepath:prepend('$plugin')
vim.g.tackroom = { cmd = { '$(realpath "$TACKROOM_BIN")' } }
vim.o.laststatus, vim.o.showcmd, vim.o.ruler = 3, false, false
vim.o.statusline = " %f %= %{v:lua.require'tackroom'.statusline()} "
LUA
tmux_ new-session -d -s shot -x 100 -y 24 \
  "env -i HOME='$home' PATH='$PATH' TERM=tmux-256color LANG=C.UTF-8 ${VIMRUNTIME:+VIMRUNTIME='$VIMRUNTIME'} '$NVIM' --clean -u '$home/init.lua'"

screen() { tmux_ capture-pane -p -t shot; }
# Waits until the screen shows something.
await() {
  for _ in $(seq 300); do
    screen | grep -qF -- "$1" && return 0
    sleep 0.1
  done
  echo "never shown: $1" >&2
  screen >&2
  return 1
}
shot() {
  # Without the command line, and without what is below the end of a buffer.
  screen | sed '24{/^-- /!d}; s/[[:space:]]*$//' | grep -v '^~$' >"$screens/$1"
  if [ "${look:-}" ]; then tmux_ capture-pane -ep -t shot; fi
}
keys() { tmux_ send-keys -t shot "$@"; }

[ "${1:-}" != --look ] || look=1
await '1 waiting'
keys ':Tackroom' Enter
await 'Calibrate the rain gauge'
await 'demo-1'
shot list
keys '/rain gauge' Enter
keys Enter
await 'g? helps'
await 'assistant'
shot transcript
keys ':Tackroom attach demo-1' Enter
await 'nobody drives'
keys i 'run rm roof.old' Enter
await 'may it run bash'
shot attach
keys Escape 'ga'
await 'Allow once'
shot answer
keys '2' Enter
await 'Done: allow'
shot answered
keys ':qall!' Enter

[ -z "${look:-}" ] || exit 0
python3 - "$plugin/README.md" "$screens" <<'PY'
import re, sys
readme, screens = sys.argv[1:]
text = open(readme).read()
for name in re.findall(r"<!-- screen (\w+) -->", text):
    shown = open(f"{screens}/{name}").read().rstrip("\n")
    block = f"<!-- screen {name} -->\n```text\n{shown}\n```\n"
    text = re.sub(rf"<!-- screen {name} -->\n(```text\n.*?\n```\n)?", lambda _: block, text, flags=re.S)
open(readme, "w").write(text)
PY
