#!/bin/sh
# Measures error rates and power of the regression check on this machine, and compares them with the stated figures.
#
#   tests/bench/check-power.sh PROGRAM [PART...]
#
# PROGRAM is an opbench_faulty (./build.sh preset release opbench_faulty). PARTs are same, ten, five, some, wrong, long,
# budget, one, stored and many (default: all), with RUNS=20 repeats of each. The output has the load for each figure and
# the machine once; docs/check.md has a table of the figures. It takes some hours on two cores, about half a minute a
# run. Other load makes it longer, not wrong.
set -eu
program=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- same ten five some wrong long budget one stored many
runs=${RUNS:-20}
cases="--cases tests/bench/check_power.yaml --threads 1"
slowed="$cases --filter slowed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if OPBENCH_TEST_SLOWDOWN=unreadable "$program" --version >/dev/null 2>&1; then
  echo "$program plants no faults: give an opbench_faulty" >&2
  exit 2
fi
# The base build: the same program without faults.
printf '#!/bin/sh\nunset OPBENCH_TEST_SLOWDOWN OPBENCH_TEST_WRONG_CALLS\nexec "%s" "$@"\n' "$program" >"$work/base"
chmod +x "$work/base"

# gate NAME ARGS: one check for each run; keeps check.json and the exit code.
gate() {
  name=$1
  shift
  i=0
  while [ "$i" -lt "$runs" ]; do
    i=$((i + 1))
    status=0
    "$program" check --against "$work/base" -q --json "$work/$name.$i.json" "$@" >/dev/null 2>&1 || status=$?
    echo "$status" >>"$work/$name.codes"
  done
}

# count NAME WHAT: prints verdicts SLOWER and all verdicts over all runs, and runs by exit code.
count() {
  python3 - "$work" "$1" <<'PYTHON'
import collections, glob, json, sys
work, name = sys.argv[1:]
reports = [json.load(open(f)) for f in glob.glob(f"{work}/{name}.*.json")]
items = [item for report in reports for item in report["items"]]
verdicts = collections.Counter(item["verdict"] for item in items)
codes = collections.Counter(open(f"{work}/{name}.codes").read().split())
found = collections.Counter(item["case"].split(",")[0] + "," + item["case"].split(",")[1]
                            for item in items if item["verdict"] == "SLOWER")
floors = sorted(report.get("noise_floor_percent") or 0 for report in reports)
seconds = sorted(report["seconds"] for report in reports)
print("  verdicts:", ", ".join(f"{n} {v}" for v, n in verdicts.most_common()), f"of {len(items)}")
print("  exit codes:", ", ".join(f"{n} times {c}" for c, n in sorted(codes.items())), f"of {len(reports)} runs")
for case, n in sorted(found.items()):
    print(f"  SLOWER in {n} of {len(reports)} runs: {case}")
def ticks(path):
    values = [int(value) for value in open(path).readline().split()[1:9]]
    return values[7], sum(values)
(stolen, spent), (stolen_now, spent_now) = ticks(f"{work}/stat"), ticks("/proc/stat")
taken = f"{100 * (stolen_now - stolen) / (spent_now - spent):.0f}%" if spent_now > spent else "who knows how much"
print(f"  the host took {taken} of the CPUs meanwhile, load average {open('/proc/loadavg').read().split()[0]} at the end")
print(f"  noise floor {floors[0]:.1f} to {floors[-1]:.1f}%, seconds per run {seconds[0]:.0f} to {seconds[-1]:.0f}")
PYTHON
}

# stored NAME FACTOR CASES: compares stored results of separate processes. Times of the later run are multiplied by
# FACTOR, as if every call took that much longer.
stored() {
  name=$1 factor=$2
  shift 2
  i=0
  while [ "$i" -lt "$runs" ]; do
    i=$((i + 1))
    "$program" run "$@" -q --json "$work/old.json" >/dev/null 2>&1
    "$program" run "$@" -q --json "$work/new.json" >/dev/null 2>&1
    python3 - "$work/new.json" "$factor" <<'PYTHON'
import json, sys
path, factor = sys.argv[1], float(sys.argv[2])
results = json.load(open(path))
for record in results["records"]:
    if record["variant"] == "softplus_v2":
        for key in ("median_us", "mad_us", "min_us"):
            record[key] *= factor
        record["samples_us"] = [us * factor for us in record["samples_us"]]
json.dump(results, open(path, "w"))
PYTHON
    status=0
    "$program" check --baseline "$work/old.json" --current "$work/new.json" --gate stored -q \
      --json "$work/$name.$i.json" >/dev/null 2>&1 || status=$?
    echo "$status" >>"$work/$name.codes"
  done
}

# every PERCENT: the slowdown of all slowed variants.
every() { printf 'softplus_v2=%s,transpose=%s,gather_v2=%s,add=%s,relu=%s,native=%s' "$1" "$1" "$1" "$1" "$1" "$1"; }

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs"

# Prints the state of the machine at the start of a part. `count` prints the load by other processes at its end.
load() {
  cp /proc/stat "$work/stat"
  uptime | sed 's/.*load/load/'
}

for part in "$@"; do
  case $part in
    same)
      echo "A build against itself, 30 cases x $runs runs (at most 1% SLOWER, 19 of 20 exit 0); $(load)"
      export OPBENCH_TEST_SLOWDOWN=nothing=1 # counts as other code, so that all is timed
      # shellcheck disable=SC2086
      gate same $cases
      unset OPBENCH_TEST_SLOWDOWN
      count same
      ;;
    ten)
      echo "Made 10% slower (SLOWER in 19 of 20 runs, each case); $(load)"
      export OPBENCH_TEST_SLOWDOWN=$(every 10)
      # shellcheck disable=SC2086
      gate ten $slowed
      unset OPBENCH_TEST_SLOWDOWN
      count ten
      ;;
    five)
      echo "Made 5% slower, --threshold 3 (SLOWER in 16 of 20 runs, each case); $(load)"
      export OPBENCH_TEST_SLOWDOWN=$(every 5)
      # shellcheck disable=SC2086
      gate five $slowed --threshold 3
      unset OPBENCH_TEST_SLOWDOWN
      count five
      ;;
    some)
      echo "Made 50% slower in 30% of the processes (SLOWER in 16 of 20 runs, each case); $(load)"
      export OPBENCH_TEST_SLOWDOWN="$(every 50)" OPBENCH_TEST_SLOW_PROCESSES=30
      # shellcheck disable=SC2086
      gate some $slowed
      unset OPBENCH_TEST_SLOWDOWN OPBENCH_TEST_SLOW_PROCESSES
      count some
      ;;
    wrong)
      for percent in 100 50 10 3 1; do
        echo "$percent% of the calls of gather_v2 leave a wrong element (ERROR, exit 1; in 19 of 20 runs at 10%); $(load)"
        export OPBENCH_TEST_WRONG_CALLS=gather_v2=$percent
        # shellcheck disable=SC2086
        gate "wrong$percent" $cases --filter slowed.4
        unset OPBENCH_TEST_WRONG_CALLS
        count "wrong$percent"
      done
      ;;
    long)
      echo "10% of calls of a third of a second leave a wrong element (ERROR, exit 1, in 18 of 20 runs); $(load)"
      export OPBENCH_TEST_WRONG_CALLS=native=10
      gate long --case 'sort[800000,fp32,ND]' --variant native --threads 1 --budget 45
      unset OPBENCH_TEST_WRONG_CALLS
      count long
      ;;
    budget)
      echo "Made 50% slower, with budgets of 1 to 60 s: exit 0 never; $(load)"
      export OPBENCH_TEST_SLOWDOWN="$(every 50)"
      runs=1
      for seconds in 1 2 3 5 8 12 20 30 45 60; do
        # shellcheck disable=SC2086
        gate budget $slowed --budget $seconds
      done
      runs=${RUNS:-20}
      unset OPBENCH_TEST_SLOWDOWN
      sort "$work/budget.codes" | uniq -c | sed 's/^ *\([0-9]*\) /  exit code \1 times: /'
      ;;
    one)
      echo "One of 300 cases made 10% slower, by default (SLOWER in 19 of 20 runs); $(load)"
      ids=$(i=0; while [ $i -lt 299 ]; do i=$((i + 1)); printf " --case relu[%d,fp32]" $((1000 + 97 * i)); done)
      export OPBENCH_TEST_SLOWDOWN=softplus_v2=10
      # shellcheck disable=SC2086
      gate one $ids --case 'softplus[1x64x28x28,fp32]' --variant relu,softplus_v2 --threads 1
      unset OPBENCH_TEST_SLOWDOWN
      count one
      ;;
    stored)
      echo "In addition, stored results of separate processes, a build against itself (why it is only a watch); $(load)"
      # shellcheck disable=SC2086
      stored stored 1 $cases
      count stored
      echo "Stored results with softplus_v2 10% slower, then 20%; $(load)"
      # shellcheck disable=SC2086
      stored stored10 1.1 $slowed
      count stored10
      # shellcheck disable=SC2086
      stored stored20 1.2 $slowed
      count stored20
      ;;
    many)
      echo "300 cases by default (at most 600 s); $(load)"
      ids=$(i=0; while [ $i -lt 300 ]; do i=$((i + 1)); printf " --case relu[%d,fp32]" $((1000 + 97 * i)); done)
      export OPBENCH_TEST_SLOWDOWN=nothing=1
      # shellcheck disable=SC2086
      runs=1 gate many $ids --variant relu --threads 1
      unset OPBENCH_TEST_SLOWDOWN
      count many
      ;;
    *)
      echo "no part '$part'; there are same ten five some wrong long budget one stored many" >&2
      exit 2
      ;;
  esac
done
