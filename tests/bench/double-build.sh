#!/bin/sh
# Tests tools/check-against-base with this repository: real commits on top of HEAD, both revisions built completely.
#
#   tests/bench/double-build.sh [FOLDER]
#
# FOLDER (default: a temporary one) gets a clone and is kept, so that the next run rebuilds only changes. Needs two full
# builds: half an hour without a compiler cache. Four commits, each against HEAD:
#   comment   a comment in a source that affects all measurements: no regression, exit code 0
#   twice     every operator is computed twice: SLOWER, exit code 1
#   wrong     the first element of every result has another last bit: ERROR, exit code 1
#   gone      a case is removed from the case file: GONE, exit code 1
# The exit code is 1 if a result differs from this list, 2 if the test could not run.
set -eu
case ${1:-} in
  -h | --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0 ;;
esac
root=$(cd "$(dirname "$0")/../.." && pwd -P)
if [ $# -gt 0 ]; then
  mkdir -p "$1"
  work=$(cd "$1" && pwd -P)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
clone=$work/opbench
[ -d "$clone" ] || git clone --quiet --shared "$root" "$clone"
base=$(git -C "$root" rev-parse HEAD)
git -C "$clone" fetch --quiet "$root" HEAD
git -C "$clone" config user.name double-build
git -C "$clone" config user.email double-build@localhost
cd "$clone"
source=harness/run/bound_graph.cc cases=tests/bench/check_power.yaml
launch='  call.launch({call.inputs, call.outputs});'
grep -qxF "$launch" "$source" || {
  echo "double-build.sh: $source has no line '$launch' any more, which this script changes" >&2
  exit 2
}
failed=0

# try NAME EXIT-CODE VERDICT: commits the changes and checks them against HEAD.
try() {
  git diff --quiet && { echo "double-build.sh: '$1' changed nothing" >&2; exit 2; }
  git commit --quiet --all --message "$1"
  status=0 start=$(date +%s)
  tools/check-against-base "$base" --cases "$cases" --filter 'slowed.[067]' --threads 1 --threshold 20 -q \
    --json "$work/$1.json" >"$work/$1.log" 2>&1 || status=$?
  headline=$(grep -E '^[A-Z][A-Za-z ]*: ' "$work/$1.log" | tail -n 1)
  echo "$1: exit code $status, $(($(date +%s) - start)) s with builds; $headline"
  if [ "$status" -ne "$2" ] || ! echo "$headline" | grep -q "$3"; then
    echo "  expected: exit code $2 and $3; see the end of its output:"
    tail -n 5 "$work/$1.log" | sed 's/^/  /'
    failed=1
  fi
}

begin() { git checkout --quiet --force -B "$1" "$base"; }

echo "$(git log -1 --format='%h %s' "$base"); $(uptime | sed 's/.*load/load/')"
begin comment
echo '// A comment.' >>"$source"
try comment 0 'No regression'
begin twice
sed -i "s/^  call\.launch({call\.inputs, call\.outputs});\$/&\n&/" "$source"
try twice 1 'SLOWER'
begin wrong
sed -i "s/^  call\.launch({call\.inputs, call\.outputs});\$/&\n  *static_cast<unsigned char*>(call.outputs[0]) ^= 1;/" "$source"
try wrong 1 'ERROR'
begin gone
sed -i '/slowed\.6/d' "$cases"
try gone 1 'GONE'

exit "$failed"
