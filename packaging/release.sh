#!/usr/bin/env bash
# Builds a release archive: dist/tackroom-<version>-<target>.tar.gz, and dist/SHA256SUMS of all archives there. With the
# path of a program as argument it packs that one. The same source and toolchain make the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
target=$(rustc -vV | sed -n 's/^host: //p')
program=${1:-}

if [ -z "$program" ]; then
  flags="--remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
  # Linked with all that it needs, it runs wherever the kernel is new enough, whatever libc is there. So linked it cannot
  # look for the libc's getrandom, and would read /dev/urandom instead; the system call is there wherever it runs.
  case $target in
    *-linux-*) flags="$flags -C target-feature=+crt-static --cfg getrandom_backend=\"linux_getrandom\"" ;;
  esac
  # With a target named, the flags are for the program alone, not for what builds it.
  RUSTFLAGS=$flags cargo build --profile dist --locked --target "$target"
  program=${CARGO_TARGET_DIR:-target}/$target/dist/tackroom
fi

program=$(realpath "$program")
name=tackroom-$version-$target
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/$name/completions" "$stage/$name/man/man1" dist
cd "$stage/$name"
install -m 755 "$program" tackroom
./tackroom completions bash >completions/tackroom.bash
./tackroom completions zsh >completions/_tackroom
./tackroom completions fish >completions/tackroom.fish
./tackroom man --out man/man1 2>/dev/null
cd "$OLDPWD"
cp -r README.md CHANGELOG.md ARCHITECTURE.md LICENSE-APACHE LICENSE-MIT schema docs "$stage/$name"
rm -r "$stage/$name/docs/tools"
chmod -R u=rwX,go=rX "$stage/$name"

# The time of the source, not that of the packing.
made=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
tar --create --directory "$stage" --format=ustar --sort=name --mtime="@$made" --owner=0 --group=0 --numeric-owner "$name" |
  gzip --no-name --best >"dist/$name.tar.gz"
(cd dist && sha256sum tackroom-*.tar.gz >SHA256SUMS)
echo "dist/$name.tar.gz"
