#!/usr/bin/env python3
"""Checks that all functions of static libraries begin at a cache line. Names the others and ends with exit code 1.

  tests/package/aligned_code.py OBJDUMP LIBRARY...

Cold functions, and functions that run once at the start, have their own sections, which need not be aligned.
"""
import re
import subprocess
import sys

LINE = 64
# 0000000000000440 l     F .text  00000000000000ab _ZN7opbench...
FUNCTION = re.compile(r"^([0-9a-f]+) .{6}F (\.text\S*)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$")
COLD = (".text.unlikely", ".text.startup", ".text.exit")


def functions(objdump, library):
    """Yields (name, offset in its section) for the functions of a library."""
    symbols = subprocess.run([objdump, "-t", library], check=True, capture_output=True, text=True).stdout
    for line in symbols.splitlines():
        found = FUNCTION.match(line)
        if found and not found[2].startswith(COLD):
            yield found[3], int(found[1], 16)


def main():
    objdump, *libraries = sys.argv[1:]
    failed = 0
    for library in libraries:
        all_of = list(functions(objdump, library))
        off = [name for name, offset in all_of if offset % LINE]
        print(f"{library}: {len(off)} of {len(all_of)} functions do not begin at {LINE} bytes", *off[:5], sep="\n  ")
        failed += bool(off) or not all_of
    sys.exit(1 if failed else 0)


main()
