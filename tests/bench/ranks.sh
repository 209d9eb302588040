#!/bin/sh
# Measures `opbench compare` by several ranks of this machine (mpirun):
#   equal   the files of 1, 2 and 4 ranks and of no MPI, byte for byte but for the date
#   job     64 folders of ranks with 100 tensors each, by one rank and by two, one thread each
#   sparse  two dumps of 1 TB each that are holes, and the memory of each rank
#   faults  a rank that is killed, one that is stopped and goes on, a full disk
#
#   tests/bench/ranks.sh [BUILD]               BUILD: build/release, with tests
#   PARTS='equal job' tests/bench/ranks.sh
#
# Needs 5 GB in TMPDIR (or /tmp), python3-h5py, and for the full disk the right to mount.
set -eu
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build/release}")
program=$build/opbench
[ -x "$program" ] || {
  echo "ranks.sh: $program is missing; ./build.sh builds it" >&2
  exit 2
}
source=$PWD
dumps=$source/examples/dumps
work=$(mktemp -d "${TMPDIR:-/tmp}/opbench_ranks.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

by() { # ranks, command
  ranks=$1
  shift
  mpirun --allow-run-as-root --oversubscribe --bind-to none -np "$ranks" "$@"
}

# Writes ranks R of steps S with T tensors of N elements; weights are the same on all ranks.
make_job() {
  /usr/bin/python3 - "$@" <<'PY'
import os, sys
import h5py, numpy

ranks, steps, tensors, elements = map(int, sys.argv[1:])
for step in range(steps):
    for rank in range(ranks):
        for side, device in (("npu", 10), ("gpu", 1)):
            folder = f"{side}/step{step}/rank{rank}"
            os.makedirs(folder)
            values = numpy.random.default_rng([step, rank])
            noise = numpy.random.default_rng([step, rank, 7])
            with h5py.File(folder + "/dump.h5", "w") as file:
                for tensor in range(tensors):
                    data = values.standard_normal(elements, dtype=numpy.float32)
                    if side == "npu":
                        data = data * (1 + 1e-5 * noise.standard_normal(elements, dtype=numpy.float32))
                    place = f"/Mul/{tensor + 1}/output/result"
                    attributes = file.create_dataset(place, data=data).attrs
                    for name, value in (("DeviceType", device), ("DataType", 1), ("FormatType", 2), ("Type", 0)):
                        attributes[name] = numpy.int32(value)
                    attributes["Stride"] = numpy.array([1], dtype=numpy.int32)
PY
}

seconds() { # command: its wall seconds
  python3 - "$@" <<'PY'
import subprocess, sys, time

start = time.time()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=open("err", "w")).returncode
print(f"{time.time() - start:.2f}")
sys.exit(0 if code in (0, 1) else code)
PY
}

equal() {
  sh "$source/tests/ranks/mpi/compare_test.sh" "$program" "$dumps"
  echo "equal: the files of 1, 2 and 4 ranks are those of no MPI"
}

job() {
  make_job 64 1 100 25000
  for ranks in 1 2 1 2 1 2; do
    wall=$(seconds mpirun --allow-run-as-root --oversubscribe --bind-to none -np $ranks "$program" compare npu gpu --threads 1)
    echo "$ranks $wall $(grep -o 'efficiency.*' err)"
  done | python3 -c '
import sys
rows = [line.split() for line in sys.stdin]
wall = {ranks: min(float(row[1]) for row in rows if row[0] == ranks) for ranks in ("1", "2")}
print("job: 64 folders x 100 tensors of 25,000 elements: 1 rank %.2f s, 2 ranks %.2f s, %.2fx"
      % (wall["1"], wall["2"], wall["1"] / wall["2"]))
print("job: two ranks said", [" ".join(row[2:]) for row in rows if row[0] == "2"][-1])'
  rm -rf npu gpu
}

sparse() {
  /usr/bin/python3 - <<'PY'
import os

# 110 arrays of 2.5e9 fp32 elements: 1.1e12 bytes, of which a header is written.
for side in ("npu", "gpu"):
    for i in range(110):
        folder = f"{side}/Mul/{i + 1}/output"
        os.makedirs(folder)
        with open(folder + "/result.npy", "wb") as file:
            header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2500000000,), }"
            header += b" " * (117 - len(header)) + b"\n"
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
            file.truncate(10 + len(header) + 10_000_000_000)
PY
  for ranks in 1 2; do
    python3 - "$ranks" "$program" <<'PY'
import os, resource, subprocess, sys, threading, time

ranks, program = int(sys.argv[1]), sys.argv[2]
command = [program, "compare", "npu", "gpu"]
if ranks > 1:
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] + command
start = time.time()
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
out = process.communicate()[0]
wall = time.time() - start
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
line = [line for line in out.splitlines() if " compared: " in line][0]
print(f"sparse: 2 x 1.1 TB, {ranks} ranks: {wall:.1f} s, largest process {peak:.0f} MiB; {line}")
sys.exit(0 if peak < 512 else 1)
PY
  done
  rm -rf npu gpu
}

# The processes that mpirun has started, by rank.
rank_processes() {
  for process in $(pgrep -P "$1"); do
    echo "$(tr '\0' '\n' <"/proc/$process/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p') $process"
  done | sort -n | cut -d' ' -f2
}

faults() {
  make_job 16 1 20 500000
  status=0
  "$program" compare npu gpu --quiet --threads 1 -o whole >whole.out || status=$?
  for fault in killed stopped; do
    rm -rf out
    by 3 "$program" compare npu gpu --threads 1 -o out >out.txt 2>err.txt &
    launcher=$!
    sleep 0.7
    victim=$(rank_processes $launcher | tail -1)
    if [ $fault = killed ]; then
      kill -KILL "$victim"
    else
      kill -STOP "$victim"
      sleep 2
      kill -CONT "$victim"
    fi
    code=0
    wait $launcher || code=$?
    if [ $fault = stopped ]; then
      [ $code -eq $status ] && diff out.txt whole.out >/dev/null 2>&1 || :
      for file in $(cd whole && find . -type f); do
        sed '/"date":\|"command":/d' "whole/$file" >a
        sed '/"date":\|"command":/d' "out/$file" >b
        cmp a b
      done
      echo "faults: a rank stopped for 2 s: exit code $code, all files equal"
    else
      [ $code -ne 0 ] && [ ! -e out/summary.json ]
      echo "faults: a rank killed: exit code $code, no summary; $(cat err.txt out.txt | tr '\n' ' ' | grep -o 'rank [0-9]* on [^ ]* is gone\|mpirun noticed that process[^.]*' | head -1)"
    fi
  done
  mkdir full
  if mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
    code=0
    by 2 "$program" compare npu gpu --threads 1 -o full/out >out.txt 2>err.txt || code=$?
    echo "faults: a full disk: exit code $code; $(grep -m1 'cannot' err.txt)"
    umount full
    [ $code -eq 3 ]
  else
    echo "faults: a full disk: not tried, this user may not mount"
  fi
}

for part in ${PARTS:-equal job sparse faults}; do
  rm -rf "$work"/*
  $part
done
