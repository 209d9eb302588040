"""Device dump files: a header in protobuf and the bytes of the tensors."""
import struct


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while True:
        out.append(value & 127 | (128 if value > 127 else 0))
        value >>= 7
        if value == 0:
            return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def shape(extents):
    return b"".join(number(1, extent) for extent in extents)


def output(extents=(2, 2), size=16, data_type=1, layout=0, original=None, groups=0):
    text = number(1, data_type) + number(2, layout) + block(3, shape(extents)) + number(6, size)
    return text + (block(7, shape(original)) if original is not None else b"") + number(8, groups)


def binary(header, data):
    return struct.pack("<Q", len(header)) + header + data


def dump(outputs, data):
    return binary(b"".join(block(3, one) for one in outputs), data)


def files():
    yield "empty", b""
    yield "eight zeros", b"\0" * 8
    yield "a header of 2^63 bytes", struct.pack("<Q", 1 << 63) + b"x"
    yield "5,000 outputs", dump([output()] * 5000, b"\0" * 16 * 5000)
    yield "20,000 outputs of no bytes", dump([output((0,), 0)] * 20_000, b"")
    yield "100,000 extents", dump([output((1,) * 100_000, 4)], b"\0" * 4)
    yield "a name of 1 MiB", binary(block(6, b"x" * (1 << 20)) + block(3, output()), b"\0" * 16)
    yield "a name that is a path", binary(block(6, b"../../x") + block(3, output()), b"\0" * 16)
    yield "nested fields", binary(block(3, block(3, block(3, block(3, b"\x08\x01")))), b"")
    yield "500,000 unknown fields", binary(number(99, 1) * 500_000, b"")
    yield "groups", binary(b"\x1b" * 1000, b"")
    for extents in ((1 << 63,), (1 << 40, 1 << 40), (0,), (0, 1 << 62), (1,) * 33, ()):
        yield f"shape {extents[:3]}", dump([output(extents)], b"\0" * 16)
    for size in (0, 15, 17, 1 << 40, (1 << 64) - 1):
        yield f"size {size}", dump([output(size=size)], b"\0" * 16)
    for data_type in (-1, *range(0, 45), 1 << 31):
        yield f"data type {data_type}", dump([output(data_type=data_type)], b"\0" * 16)
    for layout in (-1, *range(0, 60), 1 << 31):
        for original in (None, (2, 2), (1, 1, 2, 2), (1 << 62, 4)):
            yield f"format {layout}, original {original}", dump([output((1, 1, 2, 2, 1), 16, 1, layout, original, -5)], b"\0" * 16)


NAMES = ["Conv2D.conv1.3.7.1670205071724946", "Opdebug.Node_OpDebug.3.7.1670205071724946", "x", "Conv2D.." + "1." * 50 + "1670205071724946"]


def attempts(world):
    tried = [(name, data, called) for name, data in files() for called in NAMES[:2]]
    tried += [("usual", dump([output()], b"\0" * 16), called) for called in NAMES]
    for name, data, called in world.some(tried, always=6):
        place = world.fresh() / "dump"
        place.mkdir()
        (place / called).write_bytes(data)
        commands = [["convert", "-q", "-d", place, "-out", "npy"], ["convert", "-q", "-d", place, "-f", "NCHW", "-out", "npy"],
                    ["convert", "-q", "-d", place / called, "-t", "bin", "-v", "1", "-out", "npy"], ["overflow", "-q", "-d", place, "-out", "o"]]
        yield f"{name} {called[:10]}", commands[world.next_number() % len(commands)]
    for count in (2000,):
        place = world.fresh() / "dump"
        place.mkdir()
        for i in range(count):
            (place / f"Conv2D.conv{i}.3.{i}.1670205071724946").write_bytes(dump([output()], b"\0" * 16))
        yield f"{count} files", ["convert", "-q", "-d", place, "-out", "npy"]
