"""HDF5 files that the dumper does not write: spaces, types, links, layouts, bombs. All are valid for the library."""
import h5py
import numpy

from array_files import copied
from dumps import ATTRIBUTES, dump, tensor


def spaces():
    yield "null space", lambda place: h5py.h5d.create(place.id, b"x", h5py.h5t.NATIVE_FLOAT, h5py.h5s.create(h5py.h5s.NULL))
    for rank in (8, 9, 16, 31, 32):
        yield f"rank {rank}", lambda place, rank=rank: place.create_dataset("x", data=numpy.ones((1,) * rank, "f4"))
        yield f"rank {rank}, huge", lambda place, rank=rank: place.create_dataset("x", (2 ** (60 // rank),) * rank, "f4", chunks=(1,) * rank)
    for shape in ((0,), (0, 5), (5, 0, 3), (2 ** 40,), (2 ** 31, 2 ** 31), (2 ** 62,)):
        yield f"shape {shape}", lambda place, shape=shape: place.create_dataset("x", shape, "f4", chunks=tuple(min(s, 16) or 1 for s in shape))
    yield "2^60 unlimited", lambda place: place.create_dataset("x", (2 ** 60,), "i1", chunks=(1 << 20,), maxshape=(None,))


def types():
    for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", ">i8", "S1", "S1000", "V7", "?"):
        yield f"type {name}", lambda place, name=name: place.create_dataset("x", data=numpy.zeros(4, name))
    yield "type long double", lambda place: place.create_dataset("x", data=numpy.zeros(4, "longdouble"))
    yield "strings", lambda place: place.create_dataset("x", data=["a", "\u202e" * 50], dtype=h5py.string_dtype())
    yield "ragged", lambda place: place.create_dataset("x", (3,), dtype=h5py.vlen_dtype("f4"))
    yield "compound", lambda place: place.create_dataset("x", data=numpy.zeros(4, [("a", "f4"), ("b", "S3")]))
    yield "1,000 members", lambda place: place.create_dataset("x", data=numpy.zeros(2, [(f"m{i}", "f4") for i in range(1000)]))
    yield "nested compound", lambda place: place.create_dataset("x", data=numpy.zeros(2, nested(20)))
    yield "array type", lambda place: place.create_dataset("x", (4,), numpy.dtype(("f4", (1000,))))
    yield "enum", lambda place: place.create_dataset("x", data=[0, 1], dtype=h5py.enum_dtype({"A": 0, "B": 1}))
    yield "references", lambda place: place.create_dataset("x", (4,), h5py.ref_dtype)
    yield "opaque", lambda place: place.create_dataset("x", data=numpy.array([numpy.datetime64(0, "s")]).astype(h5py.opaque_dtype("M8[s]")))
    yield "odd float", lambda place: h5py.h5d.create(place.id, b"x", odd_float(), h5py.h5s.create_simple((4,)))
    yield "5-bit integer", lambda place: h5py.h5d.create(place.id, b"x", narrow_integer(), h5py.h5s.create_simple((4,)))


def nested(depth):
    kind = numpy.dtype("f4")
    for level in range(depth):
        kind = numpy.dtype([(f"m{level}", kind)])
    return kind


def odd_float():
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(31, 20, 11, 0, 20)
    kind.set_ebias(1023)
    return kind


def narrow_integer():
    kind = h5py.h5t.STD_I8LE.copy()
    kind.set_precision(5)
    return kind


def layouts():
    for options in ({"compression": "gzip"}, {"compression": "lzf"}, {"shuffle": True}, {"fletcher32": True}, {"scaleoffset": 3},
                    {"compression": "gzip", "shuffle": True, "fletcher32": True}):
        yield f"{options}", lambda place, options=options: place.create_dataset("x", data=numpy.ones((64, 64), "f4"), **options)
    yield "chunks of one", lambda place: place.create_dataset("x", data=numpy.ones(3000, "f4"), chunks=(1,))
    yield "a chunk of 1 GiB", lambda place: place.create_dataset("x", (1 << 28,), "f4", chunks=(1 << 28,), compression="gzip")
    yield "external file", lambda place: place.create_dataset("x", (8,), "f4", external=[("/etc/passwd", 0, 32)])
    yield "compact", lambda place: compact(place)
    yield "virtual", lambda place: virtual(place)
    yield "never written", lambda place: place.create_dataset("x", (1000, 1000), "f4")
    yield "fill value NaN", lambda place: place.create_dataset("x", (100,), "f4", fillvalue=numpy.nan)


def compact(place):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(place.id, b"x", h5py.h5t.NATIVE_FLOAT, h5py.h5s.create_simple((8,)), properties)


def virtual(place):
    layout = h5py.VirtualLayout((8,), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "x", (8,))
    place.create_virtual_dataset("x", layout)


def links():
    yield "soft link to itself", lambda place: place.__setitem__("x", h5py.SoftLink(place.name + "/x"))
    yield "soft link to the root", lambda place: place.__setitem__("x", h5py.SoftLink("/"))
    yield "soft link to nothing", lambda place: place.__setitem__("x", h5py.SoftLink("/none"))
    yield "external link", lambda place: place.__setitem__("x", h5py.ExternalLink("/etc/passwd", "/"))
    yield "a circle of groups", lambda place: place.__setitem__("x", place.file["/"])
    yield "deep groups", lambda place: place.create_group("/".join(["g"] * 500))
    yield "20,000 links to one", lambda place: many_links(place)
    yield "named type", lambda place: place.__setitem__("x", numpy.dtype("f4"))
    for name in ("\x1b[31m", "a" * 5000, "\u202e", "=1+1", "<script>", "..", "%s%n", "a\nb"):
        yield f"name {name[:10]!r}", lambda place, name=name: place.create_dataset(name, data=numpy.ones(4, "f4"))


def many_links(place):
    place.create_dataset("x", data=numpy.ones(4, "f4"))
    for i in range(20_000):
        place[f"l{i}"] = place["x"]


def attributes():
    values = [0, -1, 2 ** 31 - 1, -2 ** 31, numpy.nan, "x", "x" * 60_000, numpy.zeros(8000, "i4"), numpy.zeros(0, "i4"), h5py.Empty("i4"),
              numpy.zeros((2, 2, 2)), [1, 2 ** 40], -5, 255]
    for name in ATTRIBUTES:
        for value in values:
            yield f"{name} {str(value)[:20]!r}", lambda place, name=name, value=value: tensor(place, "x", **{name: value})
    for name in ("opbench_dtype", "opbench_format", "opbench_case", "opbench_call", "opbench_status", "opbench_values"):
        for value in ("", "fp17", "=1", "\x1b[31m", "x" * 60_000, 1.5, "relu[" + "1x" * 3000 + "1,fp32]"):
            yield f"{name} {str(value)[:20]!r}", lambda place, name=name, value=value: tensor(place, "x", **{name: value})
    yield "5,000 attributes", lambda place: [place.create_dataset("x", data=[1.0]).attrs.create(f"a{i}", i) for i in range(5000)]


def bomb(place, tensors, mebibytes):
    """Tensors of zeros, compressed a thousand times."""
    values = numpy.zeros((mebibytes, 1 << 18), "f4")
    for i in range(tensors):
        tensor(place, f"x{i}", values, chunks=(4, 1 << 18), compression="gzip", compression_opts=9)


def bombs():
    yield "a bomb of 64 MiB", lambda place: bomb(place, 1, 64)
    yield "64 bombs of 16 MiB", lambda place: bomb(place, 64, 16)


def whole_files():
    yield "no groups", lambda file: None
    yield "one dataset at the root", lambda file: file.create_dataset("x", data=[1.0])
    yield "2,000 records", lambda file: [dump(file, f"Op{i}", i) for i in range(2000)]
    yield "one record of 2,000 tensors", lambda file: [tensor(file.require_group("Op/1/input"), f"x{i}") for i in range(2000)]
    for sequence in ("-1", "99999999999999999999", "x", "1.5", "", " 1"):
        yield f"sequence number {sequence!r}", lambda file, sequence=sequence: tensor(file.require_group(f"Op/{sequence or '0'}/input"), "x")
    yield "an operator twice", lambda file: [dump(file, "Op", 1), dump(file, "op", 1)]


KINDS = [spaces, types, layouts, links, attributes]
COMMANDS = [["show"], ["show", "--stats"], ["judge"], ["compare"], ["convert"], ["overflow"], ["extract"], ["load"], ["show", "--no-values"], ["minimise"]]


def words(command, path):
    first, *flags = command
    return {"compare": ["compare", "-q", path, copied(path)] if first == "compare" else [], "convert": ["convert", "-q", path, "-o", "npy"],
            "extract": ["extract", "-q", path, "--only", ".", "-o", "e.h5"],
            "load": ["run", "-q", "--load", path, "--time", "0.01", "--repetitions", "1", "--threads", "1"],
            "minimise": ["minimise", "-q", path, "/Relu/1", "-o", "small"]}.get(first, [first, "-q", path, *flags])


def write(path, make, is_whole):
    with h5py.File(path, "w") as file:
        if is_whole:
            make(file)
        else:
            tensor(file.require_group("Relu/1/output"), "y")
            make(file.require_group("Relu/1/input"))


def attempts(world):
    made = [(name, make, False) for kind in KINDS for name, make in kind()]
    made += [(name, make, True) for name, make in whole_files()]
    tried = [(one, command) for one in made for command in COMMANDS]
    tried = world.some(tried) + [((name, make, False), command) for name, make in bombs() for command in COMMANDS[:5]]
    for (name, make, is_whole), command in tried:
        path = world.fresh() / "in.h5"
        try:
            write(path, make, is_whole)
        except (ValueError, TypeError, OSError, RuntimeError):
            continue  # this version of the library cannot write it
        yield f"{name}: {' '.join(command)}", words(command, path)
