#!/bin/sh
# Installs missing packages (Debian 12, apt), configures, builds, and runs. Without apt, it lists the missing packages.
#
#   ./build.sh                       build the program, build/release/opbench, and the Python package, build/release/python
#   ./build.sh run -- ARGS           build, then run it with ARGS
#   ./build.sh test [CTEST ARGS]     build everything and run the tests that need neither PyTorch nor a browser
#   ./build.sh test-all [CTEST ARGS] build everything and run all tests
#   ./build.sh sanitize [CTEST ARGS] as test, under the address and undefined-behaviour sanitizers
#   ./build.sh fuzz [SECONDS] [TARGET..] run the fuzz targets, each for so long [60]
#   ./build.sh cluster               run parts of a plan on a Slurm that is started for it; 77: it does not start here
#   ./build.sh aarch64 [CTEST ARGS]  build for 64-bit Arm on Debian 12, run the tests under qemu; 77: they cannot start here
#   ./build.sh packages [DIR [KIND..]] make packages in DIR [build/packages]: deb, tar, wheel [all]
#   ./build.sh preset NAME [TARGET..] build a preset of CMakePresets.json, tests included, or some of it
#   ./build.sh format                check the formatting (--fix: repair it)
set -eu
cd "$(dirname "$0")"

build_packages="g++ cmake ninja-build git
  libeigen3-dev libtbb-dev libhwy-dev libfmt-dev libhdf5-dev libbenchmark-dev
  libyaml-cpp-dev nlohmann-json3-dev libsimdjson-dev libcli11-dev libre2-dev
  zlib1g-dev libminizip-dev libprotobuf-dev protobuf-compiler
  libdnnl-dev ocl-icd-opencl-dev opencl-c-headers
  libopenmpi-dev openmpi-bin"
test_packages="libgtest-dev libgmock-dev python3 python3-h5py python3-venv hdf5-tools procps zsh fish dpkg-dev file
  pocl-opencl-icd"
framework_packages="python3-torch python3-torchvision python3-pytest python3-pandas chromium"
format_packages="clang-format"
cluster_packages="slurm-wlm munge"
aarch64_packages="g++-aarch64-linux-gnu qemu-user-static mmdebstrap"
fuzz_packages="clang libclang-rt-14-dev"
fuzz_targets="case_id_fuzz case_file_fuzz results_file_fuzz protocol_fuzz waivers_fuzz history_fuzz
  comparison_tables_fuzz catalogue_fuzz dump_file_fuzz array_file_fuzz pickle_fuzz device_dump_fuzz
  profile_table_fuzz host_log_fuzz trace_fuzz network_cases_fuzz profile_watch_fuzz
  msprobe_fuzz acl_config_fuzz op_table_fuzz shard_rules_fuzz part_lines_fuzz"

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

has() { command -v "$1" >/dev/null; }

# Asks dpkg first: with nothing to install this takes milliseconds and needs no network.
need() {
  missing=""
  for package in "$@"; do
    { has dpkg-query && dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; } ||
      missing="$missing $package"
  done
  [ -z "$missing" ] && return
  has apt-get || without_apt
  echo "installing:$missing" >&2
  as_root apt-get update -q >&2
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2
}

# Ends build.sh on another system than Debian. Without dpkg all packages count as missing.
without_apt() {
  echo "build.sh: apt-get is missing; build.sh installs packages on Debian 12 and its relatives only.
These packages, by their Debian names, are missing or unknown here:
 $missing
Install them with the package manager of this system; CMake 3.25 and GCC 12 are the oldest that work. Then build with:
  cmake --preset release -DOPBENCH_TESTS=OFF
  cmake --build --preset release" >&2
  exit 2
}

# Installs the packages that open report pages in a browser, for tests only. If the network is missing, the tests fail
# with a message.
need_page_tests() {
  command -v npm >/dev/null || need nodejs npm
  [ tests/pages/node_modules -nt tests/pages/package-lock.json ] ||
    { npm ci --prefix tests/pages --no-audit --no-fund >&2 && touch tests/pages/node_modules; } ||
    echo "npm could not install what tests/pages needs" >&2
}

# Configures if the build folder is empty, if tests are requested but not configured, or if the presets changed. CMake
# detects all other changes.
build() { # preset, tests ON or OFF, targets
  # shellcheck disable=SC2086
  need $build_packages
  # shellcheck disable=SC2086
  [ "$2" = OFF ] || need $test_packages
  cache=build/$1/CMakeCache.txt
  if [ ! -f "build/$1/build.ninja" ] || [ CMakePresets.json -nt "$cache" ] ||
    { [ "$2" = ON ] && ! grep -q '^OPBENCH_TESTS:BOOL=ON' "$cache"; }; then
    cmake --preset "$1" -DOPBENCH_TESTS="$2" >&2
    touch "$cache"
  fi
  preset=$1
  shift 2
  cmake --build "build/$preset" --target "$@" >&2
}

test_preset() { # preset, ctest arguments
  preset=$1
  shift
  build "$preset" ON all
  echo "tests: C++, the command line, files; not PyTorch's side nor pages in a browser, which test-all runs, too" >&2
  ctest --preset "$preset" -LE frameworks "$@"
}

test_all() { # ctest arguments
  # shellcheck disable=SC2086
  need $framework_packages && need_page_tests
  build release ON all
  echo "tests: all, with PyTorch and with pages in a browser" >&2
  ctest --preset release "$@"
}

# Unpacks Debian's libraries for arm64 in build/aarch64-sysroot. Absolute links would lead to this machine's libraries.
aarch64_sysroot() {
  folder=build/aarch64-sysroot
  [ ! -d $folder ] || return 0
  # shellcheck disable=SC2086
  libraries=$(printf "%s\n" $build_packages $test_packages libc6-dev | grep -E "^[^d].*-(dev|headers)$" | grep -v openmpi)
  echo "unpacking Debian's libraries for arm64 in $folder" >&2
  rm -rf $folder.new && mkdir -p $folder.new
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include="$(echo "$libraries" | paste -sd,)" bookworm - |
    tar -x -C $folder.new ./lib ./usr
  find $folder.new -type l -lname '/*' | while read -r link; do
    ln -sfr "$folder.new$(readlink "$link")" "$link"
  done
  mv $folder.new $folder
}

# Lets the kernel start programs for arm64 with qemu, which tests of the command line need.
aarch64_programs() {
  rules=/proc/sys/fs/binfmt_misc
  [ ! -e $rules/qemu-aarch64 ] || return 0
  as_root sh -c "[ -e $rules/register ] || mount -t binfmt_misc binfmt_misc $rules
    cat /usr/lib/binfmt.d/qemu-aarch64.conf >$rules/register" && return
  echo "aarch64: skipped: this kernel starts no programs for arm64 ($rules)" >&2
  exit 77
}

aarch64() { # ctest arguments
  # shellcheck disable=SC2086
  need $aarch64_packages
  aarch64_sysroot
  aarch64_programs
  build aarch64 ON opbench opbench_test opbench_faulty
  echo "tests: C++, the command line, files; under qemu" >&2
  ctest --preset aarch64 -LE frameworks -E '^(Abuse|Package|Planted)\.' "$@"
}

# Inputs that a target finds in addition to its seeds stay in build/fuzz/new for the next run.
fuzz() { # seconds, targets
  seconds=${1:-60}
  [ $# -eq 0 ] || shift
  # shellcheck disable=SC2086
  need $fuzz_packages
  targets=${*:-$fuzz_targets}
  # shellcheck disable=SC2086
  build fuzz ON write_dump_seeds $targets
  programs=build/fuzz/tests/fuzz
  new=build/fuzz/new
  [ -d "$new/dumps" ] || { mkdir -p "$new/dumps" "$new/lists" && "$programs/write_dump_seeds" "$new/dumps" "$new/lists"; }
  for target in $targets; do
    name=${target%_fuzz}
    case $name in
      catalogue) seeds=$new/lists more= ;;
      # libhdf5 crashes on some damaged files; only a crash in opbench's own code counts.
      dump_file) seeds=$new/dumps more="-fork=1 -ignore_crashes=1 -ignore_timeouts=1 -malloc_limit_mb=999999" ;;
      *) seeds=tests/fuzz/corpus/$name more= ;;
    esac
    [ ! -f "tests/fuzz/$name.dict" ] || more="$more -dict=tests/fuzz/$name.dict"
    mkdir -p "$new/$name"
    echo "fuzzing: $target for $seconds s" >&2
    # shellcheck disable=SC2086
    "$programs/$target" -max_total_time="$seconds" -timeout=20 -verbosity=0 -artifact_prefix="$new/$name-" \
      $more "$new/$name" "$seeds" || [ "$name" = dump_file ]  # 1 even if the last crash is ignored
    own_crashes "$programs/$target" "$new/$name-crash-"
  done
}

# Fails if an input found by the target crashes it with a frame of opbench among the first three.
own_crashes() { # program, prefix of its findings
  for input in "$2"*; do
    [ -f "$input" ] || continue
    if "$1" "$input" 2>&1 | grep -Eq '^ *#[0-2] .* in opbench::|^broken: '; then
      echo "fuzzing: $input crashes opbench" >&2
      return 1
    fi
  done
}

format() {
  need $format_packages git
  files=$(git ls-files --cached --others --exclude-standard '*.cc' '*.h')
  # shellcheck disable=SC2086
  if [ "${1:-}" = --fix ]; then clang-format -i $files; else clang-format --dry-run -Werror $files; fi
}

command=${1:-build}
[ $# -eq 0 ] || shift
case $command in
  build) build release OFF opbench opbench_torch ;;
  run)
    [ "${1:-}" = -- ] && shift
    build release OFF opbench
    exec build/release/opbench "$@"
    ;;
  test) test_preset release "$@" ;;
  test-all) test_all "$@" ;;
  sanitize) test_preset asan-ubsan "$@" ;;
  fuzz) fuzz "$@" ;;
  cluster)
    # shellcheck disable=SC2086
    need $cluster_packages || true  # the test reports missing packages
    build release OFF opbench
    exec tests/cluster/run build/release
    ;;
  aarch64) aarch64 "$@" ;;
  packages)
    [ $# -gt 0 ] || set -- build/packages
    need dpkg-dev file python3
    build release OFF opbench opbench_torch opbench_portable
    exec tools/make-packages build/release "$@"
    ;;
  preset)
    preset=${1:?which preset?}
    shift
    build "$preset" ON "${@:-all}"
    ;;
  format) format "$@" ;;
  *)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac
