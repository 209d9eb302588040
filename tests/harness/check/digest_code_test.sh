#!/bin/sh
# digest_code_test.sh SCRIPT COMPILER NM STRIP: tests the lines that SCRIPT writes for small objects. Equal sources give
# equal lines in every folder and every order of the list. A change appears only in the line of its object.
set -eu
script=$1 compiler=$2 nm=$3 strip=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

# build NAME FLAGS ORDER: writes the lines of the objects, compiled in the folder NAME, to NAME.txt
build() {
  name=$1 flags=$2 order=$3
  objects=$folder/$name/CMakeFiles/a.dir/kernels
  mkdir -p "$objects"
  cd "$folder/$name"
  echo 'extern const double kFactor; double part(double x) { return x * FACTOR + kFactor; }' >part.cc
  echo 'double part(double); inline double twice(double x) { return 2 * x; }
    double (*const inlined)(double) = twice; double (*taken())(double) { return inlined; }
    double kernel(double x) { return part(x); }' >kernel.cc
  echo 'inline double twice(double x) { return 2 * x; } double (*alone())(double) { return twice; }
    extern const double kFactor; const double kFactor = 3;' >alone.cc
  for source in part kernel alone; do
    # shellcheck disable=SC2086
    "$compiler" -O1 -g $flags -c $source.cc -o "$objects/$source.cc.o"
  done
  for source in $order; do echo "$objects/$source.cc.o"; done >list
  sh "$script" "$PWD/code.cc" list "$PWD" "$nm" "$strip"
  grep '^kernels/' code.cc >"$folder/$name.txt" || true
}

build one -DFACTOR=4 'part kernel alone'
build elsewhere -DFACTOR=4 'alone kernel part'
build changed -DFACTOR=5 'part kernel alone'
cmp "$folder/one.txt" "$folder/elsewhere.txt" || fail "the folder or the order counts"
sed 's/ [0-9a-f]\{16\}//' "$folder/one.txt" >"$folder/references"
cmp "$folder/references" - <<END || fail "other references"
kernels/alone.cc
kernels/kernel.cc kernels/part.cc
kernels/part.cc kernels/alone.cc
END
[ "$(diff "$folder/one.txt" "$folder/changed.txt" | grep -c '^> kernels/part.cc ')" = 1 ] || fail "a change is not found"
[ "$(diff "$folder/one.txt" "$folder/changed.txt" | grep -c '^>')" = 1 ] || fail "another object changed, too"

build late '-DFACTOR=4 -flto' 'part kernel alone'
grep -q '"its code is made when it is linked"' "$folder/late/code.cc" || grep -q 'cannot read its objects"' "$folder/late/code.cc" ||
  fail "with optimisation by the linker the code is not known"
nm=$folder/no-nm
build without -DFACTOR=4 'part kernel alone'
grep -q "\"$nm cannot read its objects\"" "$folder/without/code.cc" || fail "without nm the references are not known"
