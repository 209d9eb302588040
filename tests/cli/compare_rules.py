"""Reads two files by the rules of Google Benchmark's tools/compare.py and prints one line for each
common name: name, run_type, changes of time. Every entry that the script would read is read here too,
so that a missing key fails."""
import json
import sys


def benchmarks_of(path):
    with open(path, "r", encoding="utf-8") as file:
        return json.load(file)["benchmarks"]


def is_comparable(entry):
    return "time_unit" in entry and "real_time" in entry and "cpu_time" in entry


def main():
    old, new = (benchmarks_of(path) for path in sys.argv[1:3])
    for entries in (old, new):
        # --benchmark_filter reads run_name, and the summary leaves out aggregates.
        assert all(entry.get("run_name") or entry["name"] for entry in entries)
        assert all(entry["run_type"] in ("iteration", "aggregate") for entry in entries)
        seconds = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
        assert all(entry["real_time"] * seconds[entry["time_unit"]] > 0 for entry in entries
                   if entry["run_type"] == "iteration")
    names = list(dict.fromkeys(entry["name"] for entry in old))
    shared = [name for name in names if any(entry["name"] == name for entry in new)]
    for name in shared:
        unit = next((e["time_unit"] for e in old if e["name"] == name and is_comparable(e)), None)
        if unit is None:
            continue
        left = [e for e in old if e["name"] == name and e["time_unit"] == unit]
        right = [e for e in new if e["name"] == name and e["time_unit"] == unit]
        kind = left[0]["run_type"]
        if kind == "aggregate":
            assert left[0]["aggregate_name"]
        changes = ["%+.3f" % ((b[key] - a[key]) / abs(a[key]) if a[key] else 0.0)
                   for a, b in zip(left, right) for key in ("real_time", "cpu_time")]
        print(name, kind, *changes)


main()
