#!/bin/sh
# Shows that the address of code and data does not affect the verdict: runs `opbench check` on programs that differ in
# layout only.
#
#   tests/bench/relinked.sh BUILD [SECONDS] [FLAGS OF opbench check...]
#   tests/bench/relinked.sh build/release 3600
#   tests/bench/relinked.sh build/release 600 --cases tests/bench/check_power.yaml --filter slowed
#
# BUILD is a build folder made with Ninja. Each of four scenarios is checked against the program of the build: all its
# objects linked in reverse order; with 48 bytes in front; the same program with 30 KB more of environment; and under a
# path of 3,000 characters. FLAGS select the cases; by default those of ShuffleNetV2 at batch 1, 400 variants: 1,600 in
# total.
#
# Takes two minutes on two cores, and about an hour if variants are timed. Results of single checks are kept in
# BUILD/relinked until the program or the FLAGS change, and a run that SECONDS (default: no limit) or an interrupt ended
# continues there. The exit code is 1 if any variant was SLOWER or wrong, 3 if checks are left, else 0.
set -eu
case ${1:-} in
  '' | -h | --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
    [ $# -gt 0 ] && exit 0 || exit 2 ;;
esac
build=$(realpath "$1")
shift
seconds=1000000
case ${1:-} in
  '' | -*) ;;
  *) seconds=$1 && shift ;;
esac
cd "$(dirname "$0")/../.."
[ -x "$build/opbench" ] || {
  echo "relinked.sh: $build/opbench is missing; ./build.sh builds it" >&2
  exit 2
}
[ $# -gt 0 ] || set -- --cases cases/shufflenet_v2.yaml --set N=1
parts=${PARTS:-12}
end=$(($(date +%s) + seconds))

# Results of another program or of other cases are discarded.
results=$build/relinked
mkdir -p "$results"
identity="$(md5sum <"$build/opbench") $parts $*"
[ "$(cat "$results/identity" 2>/dev/null)" = "$identity" ] || {
  rm -rf "$results"
  mkdir -p "$results"
  echo "$identity" >"$results/identity"
}

# Command that links the program, without the build's later steps.
command=$(ninja -C "$build" -t commands opbench | tail -n 1 | sed 's/^: && //; s/ && .*//')
own='libopbench_[a-z_]*\.a'

link() { # output, sed expression for the command
  [ -x "$1" ] || (cd "$build" && sh -c "$(echo "$command" | sed "$2; s# -o opbench # -o $1 #")")
}

# Names and addresses of a program's functions, without duplicate names.
places() { nm --defined-only "$1" | awk '$2 ~ /[tT]/ { print $3, $1 }' | sort -k1,1 | uniq; }

moved() { # program
  places "$build/opbench" >"$results/places"
  places "$1" | join "$results/places" - | awk '{ n++; m += $2 != $3 } END { print m " of " n " functions lie elsewhere" }'
}

objects() {
  for archive in $(echo "$command" | grep -o "$own" | sort -u); do
    ninja -C "$build" -t query "$archive" | sed -n '/input:/,/outputs:/s/^ *\([^| ].*\.o\)$/\1/p'
  done
}

reversed=$results/reversed padded=$results/padded
link "$reversed" "s#\(CMakeFiles/opbench\.dir/[^ ]*\)#\1 $(objects | tac | tr '\n' ' ')#; s# $own##g"
printf '.text\n.skip 48, 0x90\n.section .note.GNU-stack,"",@progbits\n' | c++ -x assembler -c -o "$results/padding.o" -
link "$padded" "s#CMakeFiles/opbench\.dir/#$results/padding.o &#"
echo "reversed: $(moved "$reversed"); padded: $(moved "$padded")"
deep=$results
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do deep=$deep/$(head -c 200 /dev/zero | tr '\0' d); done
mkdir -p "$deep"
cp "$build/opbench" "$deep/opbench"
# The workers of the program inherit the environment of the check; those of the base build do not.
printf '#!/bin/sh\nunset RELINKED_PADDING\nexec "%s" "$@"\n' "$build/opbench" >"$results/bare"
chmod +x "$results/bare"
padding=$(head -c 30000 /dev/zero | tr '\0' x)

check() {  # scenario, FLAGS of one part
  scenario=$1 json=$results/$1.$part.json
  shift
  [ ! -f "$json" ] || return 0
  left=$((end - $(date +%s)))
  [ "$left" -gt 0 ] || return 0
  load=$(cut -d ' ' -f 1 /proc/loadavg) status=0
  set -- -q --part "$part/$parts" --threads 1 --budget 1800 --json "$json.new" "$@"
  case $scenario in
    reversed) timeout "$left" "$reversed" check --against "$build/opbench" "$@" >"$results/out" 2>&1 || status=$? ;;
    padded) timeout "$left" "$padded" check --against "$build/opbench" "$@" >"$results/out" 2>&1 || status=$? ;;
    environment)
      RELINKED_PADDING=$padding timeout "$left" "$build/opbench" check --against "$results/bare" "$@" \
        >"$results/out" 2>&1 || status=$? ;;
    path) timeout "$left" "$deep/opbench" check --against "$build/opbench" "$@" >"$results/out" 2>&1 || status=$? ;;
  esac
  case $status in
    0 | 1 | 3 | 4 | 5) ;;
    124) return 0 ;;  # out of time: must be repeated
    *)
      echo "relinked.sh: $scenario, part $part: exit code $status" >&2
      tail -n 5 "$results/out" >&2
      exit 2 ;;
  esac
  [ "$(date +%s)" -lt "$end" ] || return 0  # ended early, and reports the interrupt
  echo "$scenario $load" >>"$results/loads"
  mv "$json.new" "$json"
}

part=0
while [ "$part" -lt "$parts" ]; do
  part=$((part + 1))
  for scenario in reversed padded environment path; do check "$scenario" "$@"; done
done
rm -rf "${results:?}"/ddd*

python3 - "$results" "$parts" <<'PYTHON'
import collections, glob, json, os, sys

results, parts = sys.argv[1], int(sys.argv[2])
loads = collections.defaultdict(list)
if os.path.exists(f"{results}/loads"):
    for line in open(f"{results}/loads"):
        scenario, load = line.split()
        loads[scenario].append(float(load))
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
print(f"{cpu}, {os.cpu_count()} CPUs")
verdicts = ["SLOWER", "SAME", "AMBIGUOUS"]
print(f"{'':<12}" + "".join(f"{v:>10}" for v in verdicts) + f"{'others':>10}{'all':>8}{'checks':>9}{'load':>14}{'seconds':>9}")
all_counts, bad, checks = collections.Counter(), [], 0
for scenario in ["reversed", "padded", "environment", "path"]:
    reports = [json.load(open(path)) for path in sorted(glob.glob(f"{results}/{scenario}.*.json"))]
    items = [item for report in reports for item in report["items"]]
    counts = collections.Counter(item["verdict"] for item in items)
    all_counts += counts
    checks += len(reports)
    bad += [(scenario, item) for item in items if item["verdict"] in ("SLOWER", "ERROR", "GONE", "NEW")]
    others = len(items) - sum(counts[v] for v in verdicts)
    load = f"{min(loads[scenario]):.1f} to {max(loads[scenario]):.1f}" if loads[scenario] else "-"
    print(f"{scenario:<12}" + "".join(f"{counts[v]:>10}" for v in verdicts) +
          f"{others:>10}{len(items):>8}{len(reports):>6}/{parts}{load:>14}{sum(r['seconds'] for r in reports):>9.0f}")
for scenario, item in bad:
    print(f"{scenario}: {item['verdict']} {item['variant']} {item['case']}: {item['evidence']}", *item["notices"], sep=" | ")
total = sum(all_counts.values())
print(f"{all_counts['SLOWER']} SLOWER of {total} (0 of 1,000 is the target)" +
      ("" if checks == 4 * parts else f"; {4 * parts - checks} checks are left, which the same command goes on with"))
sys.exit(1 if bad else 3 if checks < 4 * parts else 0)
PYTHON
