"""The commands that faults are tried on: arguments, output files, and how to check that those are complete."""
import csv
import json
import pathlib

import h5py
import numpy

CASE = ["--case", "softplus[64x64x8x8,fp32,NCHW]", "--case", "relu[8x64x8x8,fp16,NCHW]", "--threads", "1",
        "--time", "0.02", "--repetitions", "3"]

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/dumps"
EXAMPLE = EXAMPLES / "gpu.h5"
GUILTY = EXAMPLES / "npu.h5"

CONTEXT = """contexts:
  - name: pair
    inputs: {x: {shape: [4, 16, 32, 32], format: NC1HWC0}}
    nodes: [{op: relu, in: x, out: y}, {op: global_avg_pool2d, in: y, out: z}]
    outputs: [z]
    steps:
      - {name: npu}
      - {name: framework, variants: {default: native}}
"""


def is_json(path):
    json.loads(path.read_text())


def is_csv(path):
    rows = list(csv.reader(path.read_text().splitlines()))
    assert rows and all(len(row) == len(rows[0]) for row in rows)


def is_dump(path):
    with h5py.File(path, "r") as file:
        assert len(file) > 0
        file.visititems(lambda name, item: item[()] if isinstance(item, h5py.Dataset) else None)


def is_text(path):
    assert path.read_text().endswith("\n")


def is_array(path):
    numpy.load(path)


def is_archive(path):
    with numpy.load(path) as arrays:
        assert [arrays[name] for name in arrays]


WHOLE = {".json": is_json, ".csv": is_csv, ".h5": is_dump, ".npy": is_array, ".npz": is_archive}


def broken_outputs(directory):
    """Incomplete files below the directory."""
    found = []
    for path in sorted(directory.rglob("*")):
        if not path.is_file() or path.name.startswith("in."):
            continue
        try:
            WHOLE.get(path.suffix, is_text)(path)
        except Exception as error:
            found.append(f"{path.name} is not whole ({type(error).__name__})")
    return found


def run_outputs(directory):
    """Flags of `run` that each write a file."""
    return {"--json": directory / "r.json", "--csv": directory / "r.csv", "--markdown": directory / "r.md",
            "--junit": directory / "r.xml", "--trace": directory / "t.json", "--dump": directory / "d.h5",
            "--benchmark-json": directory / "b.json"}


def flat(outputs):
    return [word for flag, path in outputs.items() for word in (flag, path)]


def write_context(directory):
    path = directory / "in.context.yaml"
    path.write_text(CONTEXT)
    return path


def on_a_dump(dump, directory):
    """name -> arguments of the commands that take one dump, with outputs below `directory`."""
    return {
        "judge --json": (["judge", "-q", dump, "--json", directory / "j.json"], directory / "j.json"),
        "show --json": (["show", "-q", dump, "--json", directory / "s.json"], directory / "s.json"),
        "overflow --json": (["overflow", "-q", dump, "--json", directory / "o.json"], directory / "o.json"),
        "extract -o": (["extract", "-q", dump, "--only", ".", "-o", directory / "e.h5"], directory / "e.h5"),
        "convert to npy": (["convert", "-q", dump, "-o", directory / "npy"], directory / "npy"),
        "convert to npz": (["convert", "-q", dump, "-o", directory / "a.npz"], directory / "a.npz"),
        "run --load": (["run", "-q", "--load", dump, "--dump", directory / "l.h5", "--no-verify"], directory / "l.h5"),
    }


def write_acl_json(directory, dumps):
    path = directory / "in.acl.json"
    path.write_text(json.dumps({"dump": {"dump_path": str(dumps), "dump_op_switch": "on"}}))
    return path


def commands(world, directory):
    """name -> arguments; all outputs go below `directory`."""
    context = write_context(directory)
    from damaged_files import write_dump
    npu, gpu = directory / "in.npu.h5", directory / "in.gpu.h5"
    write_dump(npu, 10, {"chunks": (10, 25), "fletcher32": True})
    write_dump(gpu, 1, {"chunks": (10, 25), "fletcher32": True})
    outputs = flat(run_outputs(directory))
    # Planted code counts as different, so it is timed.
    other = directory / "other"
    other.write_text(f'#!/bin/sh\nOPBENCH_TEST_SLOWDOWN=nothing=1 exec "{world.program}_faulty" "$@"\n')
    other.chmod(0o755)
    return {
        "run": ["run", "-q", *CASE, *outputs],
        "context": ["run", "-q", "--cases", context, "--time", "0.02", *outputs],
        "load": on_a_dump(EXAMPLE, directory)["run --load"][0],
        "minimise": ["minimise", "-q", GUILTY, "/softplus/2", "-o", directory / "small"],
        "convert": on_a_dump(EXAMPLE, directory)["convert to npy"][0],
        "compare": ["compare", "-q", npu, gpu, "-o", directory / "cmp"],
        "check": ["check", "-q", "--against", other, "--case", "relu[64,fp32]", "--threads", "1", "--sample", "2",
                  "--out", directory / "chk"],
    }
