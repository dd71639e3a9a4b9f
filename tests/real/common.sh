# What the scripts here share. They set `here` and `program`, source this, and run as
#
#     cargo build --release && tests/real/PROGRAM [DIRECTORY]
#
# DIRECTORY keeps what is installed for the next time; without it all goes to a temporary one. TACKROOM names another
# tackroom, PORT the port on loopback of the fake model.
set -euo pipefail
tackroom=$(realpath "${TACKROOM:-$here/../../target/release/tackroom}")
directory=${1:-}
base=$(mktemp -d)
installed=$(realpath -m "${directory:-$base/installed}")
home=$base/home
mkdir -p "$home" "$installed"
unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME CODEX_HOME CLAUDE_CONFIG_DIR GEMINI_CLI_HOME OPENCODE_DB
model=
terminal=(tmux -L "tackroom-real-$$" -f /dev/null)
finish() {
  "${terminal[@]}" kill-server 2>/dev/null || true
  [ -z "$model" ] || kill "$model" 2>/dev/null || true
  rm -rf "$base"
}
trap finish EXIT

failed() { echo "failed: $*" >&2; exit 1; }

# npm into a directory; what its packages put into a home goes into the temporary one.
quietly() {
  HOME=$base npm_config_cache=${npm_config_cache:-$HOME/.npm} npm_config_userconfig=${npm_config_userconfig:-$HOME/.npmrc} \
    npm install --no-audit --no-fund --loglevel=error --prefix "$@" >/dev/null
}

# Installs packages of npm unless they are there; their programs come first in PATH.
install() {
  export PATH=$installed/node_modules/.bin:$PATH
  [ -x "$installed/node_modules/.bin/$program" ] || quietly "$installed" "$@"
}

# The names, modes, inodes, sizes, times and bytes of all below a directory.
state() { (cd "$1" && find . -printf '%p %y %m %i %s %T@ %C@\n' | sort && find . -type f -print0 | sort -z | xargs -0r sha256sum); }

# Answers of `tackroom serve`, one a line, to requests, one a line.
ask() { HOME=$home python3 "$here/rpc.py" "$tackroom"; }

# Lists all sessions into $base/entries and loads each into $base/loaded, and sees that this touched nothing.
look() {
  state "$home" >"$base/before"
  ask >"$base/listed" <<<'{"method":"registry/list","params":{"limit":1000,"query":{"includeChildren":true,"include":["messageCount"]}}}'
  python3 -c 'import json,sys
for entry in json.load(sys.stdin)["result"]["entries"]:
    print(json.dumps({"method": "session/load", "params": {"id": entry["id"], "limit": 1000}}))' \
    <"$base/listed" | ask >"$base/loaded"
  state "$home" >"$base/after"
  cmp -s "$base/before" "$base/after" || failed "listing and loading changed the home"
  echo "ok: $(wc -l <"$base/loaded") sessions of $program listed and loaded, and no byte and no time of its home changed"
}

# back NAME ID TEXT [VARIABLE=VALUE | --root HARNESS=PATH ...]: runs `tackroom resume ID` in a terminal, waits for TEXT of the
# old conversation on its screen, says something, and sees that it is the same session that heard it.
back() {
  local name=$1 id=$2 text=$3 variables=() options=() said="typed into $1" screen='' last=''
  shift 3
  for word in "$@"; do case $word in [A-Z]*=*) variables+=("$word") ;; *) options+=("$word") ;; esac; done
  "${terminal[@]}" new-session -d -s "$name" -x 150 -y 45 \
    "exec $(printf '%q ' env "PATH=$PATH" "HOME=$home" "${variables[@]}" "$tackroom" resume "$id" "${options[@]}")"
  for _ in $(seq 300); do
    screen=$("${terminal[@]}" capture-pane -pt "=$name:" 2>/dev/null) || failed "$program ended instead of opening $id"
    grep -qF -- "$text" <<<"$screen" && break
    sleep 0.2
  done
  grep -qF -- "$text" <<<"$screen" || failed "$program does not show \`$text\` after going back: $screen"
  sleep 2
  "${terminal[@]}" send-keys -t "=$name:" -l -- "$said"
  sleep 1
  "${terminal[@]}" send-keys -t "=$name:" Enter
  for _ in $(seq 100); do
    last=$(ask <<<"{\"method\":\"registry/describe\",\"params\":{\"id\":\"$id\"}}")
    grep -qE "answer to: (<user_query> )?$said" <<<"$last" && break
    sleep 0.2
  done
  grep -qE "answer to: (<user_query> )?$said" <<<"$last" || failed "$program did not go on in $id: $last"
  kill "$("${terminal[@]}" list-panes -t "=$name:" -F '#{pane_pid}')"
  echo "ok: tackroom resume leads $program back into $name, where the conversation goes on"
}
