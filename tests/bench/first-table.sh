#!/bin/sh
# Prints the seconds from an installation to the first table, for each way to install.
#
#   tests/bench/first-table.sh [deb] [wheel] [clone]     [deb wheel]
#
# deb     apt installs build/packages/opbench_*.deb in a new Debian 12 (mmdebstrap; root; the network)
# wheel   pip installs build/packages/opbench-*.whl in a new venv, without the network
# clone   build.sh builds a new clone, with the packages of this machine and without ccache
#
# ./build.sh packages makes build/packages.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d /tmp/opbench-first-table.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
first="--op softplus --shapes resnet.yaml --filter 32x64x112x112,fp32,NCHW"

seconds() { awk -v begin="$1" -v end="$(date +%s.%N)" 'BEGIN { printf "%.1f", end - begin }'; }

# Runs the first command; prints the seconds of the installation and those of the command.
table() { # way, time at which the installation began, command line that runs opbench
  way=$1 began=$2 installed=$(seconds "$2")
  shift 2
  # shellcheck disable=SC2086
  "$@" $first >"$work/table"
  grep -q "softplus_v2 " "$work/table"
  echo "$way: first table after $(seconds "$began") s, installed after $installed s"
}

# Called by mmdebstrap when the new Debian is complete. apt outside of it has the network and only downloads; apt inside of
# it installs, so that nothing of this machine changes. Both find the file by its path.
in_new_debian() { # root folder, package
  mkdir -p "$1${2%/*}" && cp "$2" "$1$2"
  began=$(date +%s.%N)
  APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get install -y -q --no-install-recommends --download-only "$2" >&2
  DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get install -y -q --no-install-recommends "$2" >&2
  table deb "$began" chroot "$1" opbench
}

deb() {
  cp "$root"/build/packages/opbench_*.deb "$work/opbench.deb"
  mmdebstrap --quiet --variant=apt --customize-hook="'$root/tests/bench/first-table.sh' in-new-debian \"\$1\" $work/opbench.deb" \
    bookworm /dev/null
}

wheel() {
  began=$(date +%s.%N)
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$root"/build/packages/opbench-*.whl
  table wheel "$began" "$work/venv/bin/opbench"
}

clone() {
  began=$(date +%s.%N)
  git clone --quiet "$root" "$work/clone"
  CCACHE_DISABLE=1 "$work/clone/build.sh"
  table clone "$began" "$work/clone/build/release/opbench"
}

if [ "${1:-}" = in-new-debian ]; then
  in_new_debian "$2" "$3"
  exit
fi
[ $# -gt 0 ] || set -- deb wheel
for way in "$@"; do
  case $way in
    deb | wheel | clone) "$way" ;;
    *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2 ;;
  esac
done
