#!/bin/sh
# ranks_test.sh PROGRAM: several ranks give the results of one rank, and report the error if a rank fails.
set -eu
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

start() { # ranks, arguments
  ranks=$1
  shift
  timeout 60 mpirun --allow-run-as-root --oversubscribe --bind-to none -np "$ranks" "$program" "$@" >out 2>err
}
fail() {
  echo "$1" >&2
  cat out err >&2
  exit 1
}

"$program" squares 1000 >out 2>err || fail "alone"
grep -q '^1 ranks, 1000 units, sum 332833500$' out || fail "alone"
for ranks in 1 2 4; do
  start $ranks squares 1000 || fail "$ranks ranks end with $?"
  grep -q "^$ranks ranks, 1000 units, sum 332833500\$" out || fail "$ranks ranks"
done
! start 2 throw 64 || fail "a unit that throws is not told"
grep -q 'ranks_program: rank 1 on .*: this unit cannot be done$' err || fail "a unit that throws"
! start 2 plan 64 || fail "another plan is not told"
grep -q 'rank 1 on .* has planned other work than rank 0' err || fail "another plan"
status=0
start 3 die 64 || status=$?
[ $status -ne 0 ] && [ $status -ne 124 ] || fail "a lost rank ends with $status"
# Rank 0 reports it, unless mpirun ends all ranks first.
grep -q 'rank 2 on .* is gone: its process has ended\|process rank 2 ' out err || fail "nobody names the lost rank"
