"""Dumps with flipped bits or cut short. If h5py cannot read an object either, opbench may leave it unread."""
import os
import shutil

import h5py
import numpy

from commands import broken_outputs, on_a_dump
from world import bad_end, left_behind

CODES = {0, 1, 2, 3, 4}


def write_dump(path, device, options):
    """Three operators in a row, with inputs and outputs; `options` are for h5py's datasets."""
    random = numpy.random.default_rng(7)
    with h5py.File(path, "w") as file:
        for number in range(1, 4):
            for side, name in (("input", "self"), ("output", "result")):
                values = random.standard_normal((40, 25)).astype("float32")
                dataset = file.create_dataset(f"/Op{number}/{number}/{side}/{name}", data=values, **options)
                for attribute, value in (("DeviceType", device), ("DataType", 1), ("FormatType", 0), ("Type", 0)):
                    dataset.attrs.create(attribute, value, dtype="int32")
                stride = [1, 40] if options.get("chunks") == (40, 5) else [25, 1]
                dataset.attrs.create("Stride", numpy.array(stride, "int64"))


LAYOUTS = {
    "contiguous": {},
    "checksums": {"chunks": (10, 25), "fletcher32": True},
    "compressed": {"chunks": (10, 25), "compression": "gzip", "shuffle": True},
    "strided": {"chunks": (40, 5), "fletcher32": True},
}


def write_pairs(world):
    pairs = []
    for layout, options in LAYOUTS.items():
        device = 0 if layout == "strided" else 10
        npu, gpu = world.directory / f"{layout}_npu.h5", world.directory / f"{layout}_gpu.h5"
        write_dump(npu, device, options)
        write_dump(gpu, 1, options)
        pairs.append((npu, gpu))
    return pairs


def visit(group, problems):
    try:
        names = list(group)
    except Exception:
        problems.append(group.name)
        return
    for name in names:
        try:
            child = group[name]
            if isinstance(child, h5py.Group):
                visit(child, problems)
            else:
                child[()]
        except Exception:
            problems.append(name)


def is_unreadable(path):
    """True if the file has an object that h5py finds and cannot read. Runs in a separate process, because the library
    may crash."""
    child = os.fork()
    if child == 0:
        try:
            problems = []
            with h5py.File(path, "r") as file:
                visit(file, problems)
            os._exit(1 if problems else 0)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] != 0


def judge(outcome, path, must_fail):
    reason = bad_end(outcome)
    if reason is None and outcome.code not in CODES:
        reason = f"exit code {outcome.code}"
    if reason is None and outcome.code == 2 and outcome.err.count(b"\n") != 1:
        reason = "the error is not one line"
    # h5py looks up names, opbench follows addresses, so opbench may find more objects.
    all_passed = b"6 tensors compared: 6 passed" in outcome.out
    if reason is None and outcome.code == 0 and not all_passed and must_fail(path):
        reason = "exit code 0 over data that cannot be read"
    return reason


def bit_flips(world):
    pairs = write_pairs(world)
    damaged = world.directory / "npu.h5"
    for i in range(world.count(1000)):
        npu, gpu = pairs[i % len(pairs)]
        data = bytearray(npu.read_bytes())
        place, bit = world.random.randrange(len(data)), world.random.randrange(8)
        data[place] ^= 1 << bit
        damaged.write_bytes(data)
        outcome = world.run(["compare", "-q", damaged, gpu], limit=60)
        reason = judge(outcome, damaged, is_unreadable)
        yield None if reason is None else f"{npu.name}, byte {place}, bit {bit}: {reason}"


def other_commands(world):
    """The commands that take one dump, on files with the same damage."""
    pairs = write_pairs(world)
    for i in range(world.count(700)):
        directory = world.fresh("others")
        damaged = directory / "in.npu.h5"
        whole = pairs[i % len(pairs)][0]
        data = bytearray(whole.read_bytes())
        place, bit = world.random.randrange(len(data)), world.random.randrange(8)
        data[place] ^= 1 << bit
        damaged.write_bytes(data)
        table = on_a_dump(damaged, directory)
        name = list(table)[i % len(table)]
        outcome = world.run(table[name][0], limit=60)
        wrong = [bad_end(outcome)] if bad_end(outcome) else left_behind(directory) + broken_outputs(directory)
        if outcome.code == 2 and not name.startswith("convert") and outcome.err.count(b"\n") != 1:
            wrong.append("the error is not one line")
        yield f"{name}, {whole.name}, byte {place}, bit {bit}: {'; '.join(wrong)}" if wrong else None


def truncations(world):
    pairs = write_pairs(world)
    damaged = world.directory / "npu.h5"
    for i in range(world.count(200)):
        npu, gpu = pairs[i % len(pairs)]
        shutil.copy(npu, damaged)
        size = world.random.randrange(npu.stat().st_size)
        os.truncate(damaged, size)
        outcome = world.run(["compare", "-q", damaged, gpu], limit=60)
        reason = judge(outcome, damaged, lambda path: True)
        yield None if reason is None else f"{npu.name} cut to {size} bytes: {reason}"
