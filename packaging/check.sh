#!/usr/bin/env bash
# Holds a release archive against what a release promises: packaging/check.sh dist/tackroom-<version>-<target>.tar.gz
set -euo pipefail
archive=$(realpath "$1")
fail() { echo "$archive: $1" >&2; exit 1; }

(cd "$(dirname "$archive")" && sha256sum --check --quiet --ignore-missing SHA256SUMS) || fail "not what SHA256SUMS says"
grep -q " $(basename "$archive")\$" "$(dirname "$archive")/SHA256SUMS" || fail "not in SHA256SUMS"

listing=$(tar --list --verbose --numeric-owner --full-time --file "$archive")
[ "$(awk '{print $2}' <<<"$listing" | sort -u)" = 0/0 ] || fail "it holds files of somebody"
[ "$(awk '{print $4, $5}' <<<"$listing" | sort -u | wc -l)" = 1 ] || fail "its times differ"
[ "$(awk '{print $6}' <<<"$listing" | sed 's|/.*||' | sort -u)" = "$(basename "$archive" .tar.gz)" ] || fail "it spills"

bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
tar --extract --file "$archive" --directory "$bare" --strip-components=1
for file in README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT schema/openrpc.json docs/index.md man/man1/tackroom.1; do
  [ -s "$bare/$file" ] || fail "$file is not in it"
done

version=$(basename "$archive" | sed 's/^tackroom-\([^-]*\)-.*/\1/')
ask='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"check"}}}'
runs() { # a command that starts the program, in an environment without anything
  [ "$(env -i "$@" --version)" = "tackroom $version" ] || fail "the program is not version $version"
  env -i "$@" serve <<<"$ask" | grep -q '"name":"tackroom"' || fail "the program does not answer"
}
runs "$bare/tackroom"
if ldd "$bare/tackroom" 2>&1 | grep -q " => "; then
  echo "linked dynamically: it needs a libc as new as that of the machine which built it"
elif [ "$(id -u)" = 0 ]; then
  runs "$(command -v chroot)" "$bare" /tackroom
fi

for shell in bash:tackroom.bash zsh:_tackroom fish:tackroom.fish; do
  "$bare/tackroom" completions "${shell%%:*}" | cmp --quiet - "$bare/completions/${shell#*:}" || fail "${shell%%:*} is stale"
done
bash -n "$bare/completions/tackroom.bash"
"$bare/tackroom" schema --out "$bare/now" 2>/dev/null
diff -r "$bare/schema" "$bare/now" || fail "its schema is another"
for page in "$bare"/man/man1/*.1; do
  if command -v mandoc >/dev/null; then
    mandoc -T lint -W error "$page" || fail "$page does not render"
  elif command -v man >/dev/null; then
    [ -z "$(MANWIDTH=100 man --warnings --local-file "$page" 2>&1 >/dev/null)" ] || fail "$page does not render"
  fi
done
echo "$(basename "$archive"): good"
