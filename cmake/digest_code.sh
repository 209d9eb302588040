#!/bin/sh
# digest_code.sh OUTPUT OBJECTS BUILD NM STRIP: writes C++ that registers the code of a program
# (harness/check/own_code.h): for each object its source, a digest, and the sources of the objects that it references.
# OBJECTS is a file with their paths, all of them below BUILD. Digests exclude debug information, because it contains
# paths. Other objects and the linker do not affect a digest. Each object has a copy of the inline functions that it
# uses.
set -eu
output=$1 objects=$2 build=$3 nm=$4 strip=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

write() {  # table, reason why it is empty
  cat <<END
// Written by cmake/digest_code.sh.
#include "harness/check/own_code.h"

namespace {

const opbench::check::RegisteredCode code{{"$(basename "$output" .cc)", R"($1)", "$2"}};

}  // namespace
END
}

unknown() { # reason
  write "" "$1" >"$output"
  exit 0
}

xargs -d '\n' cp --parents -t "$folder" <"$objects"
cd "$folder$build"
find . -name '*.o' | sed 's,^\./,,' | LC_ALL=C sort >"$folder/objects"
xargs -d '\n' grep -alF .gnu.lto_. <"$folder/objects" >"$folder/lto" || true
[ ! -s "$folder/lto" ] || unknown "its code is made when it is linked"
xargs -d '\n' "$strip" --strip-debug <"$folder/objects" || unknown "$strip cannot read its objects"
xargs -d '\n' "$nm" -gA <"$folder/objects" >"$folder/symbols" || unknown "$nm cannot read its objects"
xargs -d '\n' sha256sum <"$folder/objects" >"$folder/digests"

table=$(awk '
  # CMakeFiles/opbench_tensor.dir/tensor/shape.cc.o belongs to tensor/shape.cc.
  function source(path) {
    sub(/CMakeFiles\/[^\/]*\.dir\//, "", path)
    sub(/\.o$/, "", path)
    return path
  }
  FILENAME == ARGV[1] { digest[source($2)] = substr($1, 1, 16); next }
  {
    object = source(substr($0, 1, index($0, ".o:") + 1))
    name = $NF
    type = $(NF - 1)
    if (type == "U" || type == "w") uses[object, name]
    else if (type ~ /[WVu]/) inline_in[name] = inline_in[name] " " object
    else defined_in[name] = object
  }
  END {
    for (use in uses) {
      split(use, part, SUBSEP)
      count = split(part[2] in defined_in ? defined_in[part[2]] : inline_in[part[2]], places, " ")
      for (i = 1; i <= count; ++i) {
        if (places[i] == part[1] || (part[1], places[i]) in needed) continue
        needed[part[1], places[i]]
        needs[part[1]] = needs[part[1]] " " places[i]
      }
    }
    for (object in digest) print object, digest[object] needs[object]
  }' "$folder/digests" "$folder/symbols" | LC_ALL=C sort)
write "
$table
" "" >"$output"
