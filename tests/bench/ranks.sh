#!/bin/sh
# Measures `opbench compare` by several ranks of this machine (mpirun):
#   equal   files of 1, 2 and 4 ranks and without MPI must be identical except for the date
#   job     64 folders of ranks with 100 tensors each, by one rank and by two, one thread each; exit code 1 below 1.7x
#   sparse  two dumps of 1 TB each that are holes, and the memory of each rank; exit code 1 above 512 MiB, or if two
#           ranks are slower than one
#
#   tests/bench/ranks.sh [BUILD]               BUILD: build/release, with tests
#   PARTS='equal job' tests/bench/ranks.sh
#
# Needs 2 GB in TMPDIR (or /tmp) and python3-h5py. Faults of ranks: tests/faults/run --only ranks
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

# Folders of ranks with 100 tensors each. On each side four are files and the others are links to them, so that the time
# is that of comparing instead of the disk's.
make_job() { # ranks, elements
  /usr/bin/python3 - "$@" <<'PY'
import os, sys
import h5py, numpy

ranks, elements = map(int, sys.argv[1:])
for rank in range(ranks):
    for side, device in (("npu", 10), ("gpu", 1)):
        folder = f"{side}/step0/rank{rank}"
        os.makedirs(folder)
        if rank >= 4:
            os.link(f"{side}/step0/rank{rank % 4}/dump.h5", folder + "/dump.h5")
            continue
        values, noise = numpy.random.default_rng(rank), numpy.random.default_rng([rank, 7])
        with h5py.File(folder + "/dump.h5", "w") as file:
            for tensor in range(100):
                data = values.standard_normal(elements, dtype=numpy.float32)
                if side == "npu":
                    data = data * (1 + 1e-5 * noise.standard_normal(elements, dtype=numpy.float32))
                attributes = file.create_dataset(f"/Mul/{tensor + 1}/output/result", data=data).attrs
                for name, value in (("DeviceType", device), ("DataType", 1), ("FormatType", 2), ("Type", 0)):
                    attributes[name] = numpy.int32(value)
                attributes["Stride"] = numpy.array([1], dtype=numpy.int32)
PY
}

seconds() {  # command; prints its wall seconds
  python3 - "$@" <<'PY'
import subprocess, sys, time

start = time.time()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=open("err", "w")).returncode
print(f"{time.time() - start:.2f}")
sys.exit(0 if code in (0, 1) else code)
PY
}

equal() {
  sh "$source/tests/workers/mpi/compare_test.sh" "$program" "$dumps"
  echo "equal: the files of 1, 2 and 4 ranks are those of no MPI"
}

job() {
  elements=${ELEMENTS:-250000}
  make_job 64 "$elements"
  for ranks in 1 2 1 2 1 2; do
    wall=$(seconds mpirun --allow-run-as-root --oversubscribe --bind-to none -np $ranks "$program" compare npu gpu --threads 1)
    echo "$ranks $wall $(grep -o 'efficiency.*' err)"
  done >times
  rm -rf npu gpu
  python3 - "$elements" times <<'PY'
import sys

rows = [line.split() for line in open(sys.argv[2])]
one, two = (min(float(row[1]) for row in rows if row[0] == ranks) for ranks in "12")
print(f"job: 64 folders x 100 tensors of {sys.argv[1]} elements: 1 rank {one:.2f} s, 2 ranks {two:.2f} s, {one / two:.2f}x")
print("job: two ranks said:", " ".join(rows[-1][2:]))
sys.exit(0 if one / two >= 1.7 else 1)
PY
}

sparse() {
  /usr/bin/python3 - <<'PY'
import os

# 110 arrays of 2.5e9 fp32 elements: 1.1e12 bytes, of which only the headers are written.
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
  python3 - "$program" <<'PY'
import resource, subprocess, sys, time

walls = {}
for ranks in (1, 2):
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]
    command += [sys.argv[1], "compare", "npu", "gpu"]
    start = time.time()
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    walls[ranks] = time.time() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    line = [line for line in out.splitlines() if " compared: " in line][0]
    print(f"sparse: 2 x 1.1 TB, {ranks} ranks: {walls[ranks]:.1f} s, largest process {peak:.0f} MiB; {line}")
sys.exit(0 if peak < 512 and walls[2] < 1.1 * walls[1] + 0.5 else 1)
PY
  rm -rf npu gpu
}

for part in ${PARTS:-equal job sparse}; do
  rm -rf "$work"/*
  $part
done
