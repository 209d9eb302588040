#!/bin/sh
# Measures `opbench compare` and other tools in one run: seconds (median of RUNS after one to warm the page cache), GB/s
# of both files together, peak memory of opbench and its child processes.
#
#   tests/bench/compare.sh [BUILD]        BUILD: build/release, with tests
#   CASES='tiny seven' RUNS=1 tests/bench/compare.sh
#   QUICK=1 tests/bench/compare.sh         without h5diff
#
# Needs 2.5 GB in TMPDIR (or /tmp). Uses h5diff (hdf5-tools) if it is installed.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build/release}
runs=${RUNS:-3}
for program in opbench tests/bench/make_dumps tests/bench/hdf5_loop; do
  [ -x "$build/$program" ] || {
    echo "compare.sh: $build/$program is missing; ./build.sh test builds it" >&2
    exit 2
  }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/opbench_compare.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM

# measure LABEL BYTES TARGET COMMAND...: prints a line and writes the seconds to $work/seconds.
measure() {
  python3 - "$runs" "$work/seconds" "$@" <<'PY'
import os, statistics, subprocess, sys, time

runs, result, label, size, target, command = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6:]


def peak(pid):
    """VmHWM in bytes of a process and its children."""
    total = 0
    try:
        for line in open(f"/proc/{pid}/status"):
            if line.startswith("VmHWM"):
                total += int(line.split()[1]) * 1024
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in open(f"/proc/{pid}/task/{task}/children").read().split():
                total += peak(child)
    except OSError:
        pass
    return total


seconds, memory = [], 0
for run in range(runs + 1):
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        # Sampling memory costs time, so only the warm-up run is sampled.
        if run == 0:
            memory = max(memory, peak(process.pid))
            time.sleep(0.005)
        else:
            process.wait()
    if run > 0:
        seconds.append(time.perf_counter() - begin)
median = statistics.median(seconds)
with open(result, "w") as file:
    file.write(f"{median:.4f}")
print(f"{label:<34}{median:8.3f} s{size / median / 1e9:8.2f} GB/s{memory / 2**20:8.0f} MiB  {target}", flush=True)
PY
}

pair_bytes() { echo $(($(stat -c %s "$1/npu.h5") + $(stat -c %s "$1/gpu.h5"))); }

compare() { # case, label, target
  measure "$2" "$(pair_bytes "$work/$1")" "$3" "$build/opbench" compare "$work/$1/npu.h5" "$work/$1/gpu.h5" \
    -o "$work/out" -q --fail-on none
}

printf '%-34s%10s%13s%12s  %s\n' '' median 'both files' 'peak memory' target
for case in ${CASES:-large failing reordered single tiny seven}; do
  mkdir -p "$work/$case"
  "$build/tests/bench/make_dumps" "$work/$case" "$case"
  sync "$work/$case"/*  # or the kernel writes them back while commands are measured
  files="$work/$case/npu.h5 $work/$case/gpu.h5"
  case $case in
    large) compare large '200 operators x 1M fp32' 'at most 1.0 s, 300 MiB' ;;
    failing) compare failing '200 x 1M fp32, all fail' 'at most 1.5 x large, 300 MiB' ;;
    reordered) compare reordered '200 x 1M fp32, reversed' 'at most 1.5 x large, 300 MiB' ;;
    single) compare single 'one tensor of 100M fp32' 'at most 0.6 s, 300 MiB' ;;
    tiny) compare tiny '40,000 operators x 4 fp32' 'at most 1.0 x hdf5_loop, 128 MiB' ;;
    seven) compare seven 'seven tensors of 1,000 fp32' 'at most 0.030 s' ;;
  esac
  mine=$(cat "$work/seconds")
  [ "$case" != large ] || large=$mine
  case $case in
    failing | reordered) [ -z "${large:-}" ] || python3 -c "print(f'  {\"$case\"} / large: {$mine / $large:.2f}')" ;;
  esac
  # shellcheck disable=SC2086
  case $case in
    large | single | tiny)
      measure '  hdf5_loop' "$(pair_bytes "$work/$case")" '' "$build/tests/bench/hdf5_loop" $files
      python3 -c "print(f'  opbench / hdf5_loop: {$mine / $(cat "$work/seconds"):.2f}')"
      ;;
  esac
  # shellcheck disable=SC2086
  if [ -z "${QUICK:-}" ] && command -v h5diff >/dev/null && [ "$case" != single ] && [ "$case" != seven ]; then
    measure '  h5diff -p 0.1' "$(pair_bytes "$work/$case")" '' h5diff -p 0.1 $files
  fi
  # shellcheck disable=SC2086
  measure '  cat to /dev/null' "$(pair_bytes "$work/$case")" '' sh -c "cat $files >/dev/null"
  rm -rf "${work:?}/$case"
done
