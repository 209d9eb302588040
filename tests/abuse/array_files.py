"""Files of arrays: headers, archives, pickles, text tables, and names of raw files."""
import io
import pickle
import shutil
import struct
import warnings
import zipfile


def npy(text, data=b"\0" * 64, version=1):
    header = text.encode("latin-1")
    length = struct.pack("<H" if version == 1 else "<I", len(header) & (0xffff if version == 1 else 0xffffffff))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def headers():
    def usual(descr="'<f4'", order="False", shape="(4, 4)"):
        return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"
    yield "usual", npy(usual())
    for shape in ("()", "(0,)", "(-1,)", "(4,4,)", "4", "(4.0,)", "(1" + ",1" * 40 + ")", "(99999999999999999999,)", "(4294967296, 4294967296)", "(0, 9223372036854775807)",
                  "(" + "1," * 30_000 + ")", "((4,),)", "(4", "None", "(True,)", "(0x10,)", "('4',)"):
        yield f"shape {shape[:20]}", npy(usual(shape=shape))
    for descr in ("'|O'", "'<f3'", "'<U9999'", "'|V0'", "'>f4'", "'<f16'", "[('a', '<f4')]", "'M8[s]'", "''", "'<f'", "4", "'<f4' + 'x'", "'<c8'", "'|b1'", "'<f2'", "'=f4'", "'f4'"):
        yield f"type {descr}", npy(usual(descr=descr))
    for order in ("True", "1", "None", "'False'", "true"):
        yield f"order {order}", npy(usual(order=order))
    for text in ("", "{", "{}", "[]", "{'descr': '<f4'}\n", "(" * 5000, "{" * 5000, "'" * 60_000, usual() + " " * 60_000, usual().replace("}", ", 'x': __import__('os')}")):
        yield f"header {text[:12]!r}", npy(text)
    for version in (0, 1, 2, 3, 4, 255):
        yield f"version {version}", npy(usual(), version=version)
    yield "nothing", b""
    yield "the magic alone", b"\x93NUMPY"
    yield "a header of 4 GiB", b"\x93NUMPY\x02\0\xff\xff\xff\xff{"


def archive(members, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    warnings.simplefilter("ignore")  # of duplicate names
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, data in members:
            file.writestr(zipfile.ZipInfo(name), data, compression)
    return buffer.getvalue()


def archives():
    one = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n", b"\0" * 16)
    yield "20,000 members", archive([(f"x{i}.npy", one) for i in range(20_000)])
    yield "20,000 packed members", archive([(f"x{i}.npy", one) for i in range(20_000)], zipfile.ZIP_DEFLATED)
    yield "20,000 records", archive([(f"op{i}/1/output/x.npy", one) for i in range(20_000)])
    yield "20,000 of one record", archive([(f"op/1/output/x{i}.npy", one) for i in range(20_000)])
    yield "5,000 of one name", archive([("x.npy", one)] * 5000)
    yield "names that differ by dots", archive([(f"op/1/output/x{'.2' * (i % 3)}.npy", one) for i in range(3000)])
    big = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (16777216,), }\n", b"\0" * (1 << 26))
    yield "a bomb of 64 MiB", archive([("x.npy", big)], zipfile.ZIP_DEFLATED)
    for name in ("../../x.npy", "/etc/x.npy", "a\\b.npy", "\x1b[31m.npy", "=1+1.npy", "x" * 4000 + ".npy", "", ".npy", "a/" * 100 + "x.npy", "x.txt", "nul\0.npy"):
        yield f"member {name[:12]!r}", archive([(name, one)])
    whole = archive([("x.npy", one), ("y.npy", one)])
    for place in range(0, len(whole), 7):
        yield f"byte {place} of an archive", whole[:place] + bytes([whole[place] ^ 0xff]) + whole[place + 1:]
    yield "no members", archive([])
    yield "members that overlap", overlapping(one)


def overlapping(one):
    """Every entry of the directory refers to the same member."""
    data = bytearray(archive([(f"x{i:03}.npy", one) for i in range(300)], zipfile.ZIP_DEFLATED))
    entry = data.find(b"PK\x01\x02")
    while entry >= 0:
        data[entry + 42:entry + 46] = b"\0" * 4
        entry = data.find(b"PK\x01\x02", entry + 1)
    return bytes(data)


STORAGE = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x04tQ"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"
TENSOR = REBUILD + b"(" + STORAGE + b"K\0K\x04\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtR"


def pickles():
    yield "a tensor", TENSOR
    yield "a dict of one", b"}X\x01\0\0\0w" + TENSOR + b"s"
    yield "a number", b"K\x01"
    yield "none", b"N"
    yield "a storage", STORAGE
    yield "a function", REBUILD
    yield "a call without arguments", REBUILD + b")R"
    yield "memo of itself", b"]q\0h\0a"
    yield "memo twice", TENSOR + b"q\x010h\x01"
    yield "memo of a mark", b"(q\0"
    yield "memo that is missing", b"h\x07"
    yield "memo of a huge number", b"N" + b"r" + b"\xff" * 4 + b"j" + b"\xff" * 4
    yield "memo written over", b"Nq\0" + TENSOR + b"q\x000h\0"
    yield "memo before it is made", b"]q\0K\x01ah\0h\0\x86"
    yield "a dict that holds itself", b"}q\0X\x01\0\0\0ah\0s"
    yield "a key that is a list", b"}]" + TENSOR + b"s"
    yield "a thousand references", b"]q\0(" + b"h\x01" * 0 + TENSOR + b"q\x01" + b"h\x01" * 1000 + b"e"
    yield "lists that double", b"".join(b"]" + (b"q" + bytes([i])) + (b"(h" + bytes([i - 1]) + b"h" + bytes([i - 1]) + b"e" if i else b"") for i in range(40))
    yield "tuples that double", TENSOR + b"".join(b"q" + bytes([i]) + b"h" + bytes([i]) + b"\x86" for i in range(40))
    yield "100,000 levels", b"]" * 100_000 + b"a" * 99_999
    yield "a million values", b"(" + b"N" * 1_000_000 + b"l"
    yield "system", b"cos\nsystem\nX\x02\0\0\0id\x85R"
    yield "code by name", b"\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R"
    yield "reduce of no tuple", REBUILD + b"NR"
    yield "build", TENSOR + b"}b"
    yield "build of nothing", b"Nb"
    yield "pop of nothing", b"00"
    yield "an empty name", b"}X\0\0\0\0" + TENSOR + b"s"
    yield "names that are the same", b"}(X\x01\0\0\0w" + TENSOR + b"X\x01\0\0\0w" + TENSOR + b"u"
    yield "a text of 4 GiB", b"X\xff\xff\xff\xffx"
    yield "a text of 2^63", b"\x8d" + b"\xff" * 7 + b"\x7fx"
    yield "unfinished", TENSOR[:-20]
    for field, value in (("offset", b"K\0K\x04"), ("stride", b"K\x01\x85\x89")):
        for other in (b"N", b"J\xff\xff\xff\xff", b"\x8a\x08" + b"\xff" * 7 + b"\x7f", b"\x8a\xff" + b"\xff" * 255, b"X\x01\0\0\0x", b"]"):
            yield f"{field} {other[:6]!r}", TENSOR.replace(value, other + value[2:], 1)


def torch(body, elements=4):
    data = b"\x80\x02" + body + b"."
    return archive([("m/data.pkl", data), ("m/byteorder", b"little"), ("m/data/0", b"\0" * 4 * elements), ("m/version", b"3\n")])


def old_torch(body):
    magic = 0x1950a86a20f9469cfc6c
    parts = [pickle.dumps(magic, 2), pickle.dumps(1001, 2), pickle.dumps({"little_endian": True}, 2), b"\x80\x02" + body + b".", pickle.dumps(["0"], 2)]
    return b"".join(parts) + struct.pack("<q", 4) + b"\0" * 16


TEXTS = ["", "1", "1 2\n3", "x", "nan inf -inf\n", "1e999 -1e999\n", "# shape (2,\n1 2\n", "# shape: 2x2\n1 2 3\n", "1\0 2", "\ufeff1 2\n", "1," * 1000, "1 " * 200_000, "1\n" * 200_000,
         "0x1p3\n", "1_000\n", "9" * 5000, "# " + "x" * 100_000 + "\n1\n", "1;2\n", "\u202e1\n", "1 2\r\n3 4\r\n"]
BINS = ["x.bin", "x.4.float32.bin", "x.2x2.float32.bin", "x.99999999999x99999999999.float32.bin", "x.-1.float32.bin", "x..float32.bin", "x.0.float32.bin", "x.2_2.float32.NCHW.bin",
        "x.16.int8.bin", "x.4.float33.bin", "x." + "1x" * 60 + "1.int8.bin", "." * 50 + "bin", "x.4.object.bin"]


def files():
    yield from ((f"npy {name}", "in.npy", data) for name, data in headers())
    yield from ((f"npz {name}", "in.npz", data) for name, data in archives())
    yield from ((f"pt {name}", "in.pt", torch(body)) for name, body in pickles())
    yield from ((f"old pt {name}", "in.pt", old_torch(body)) for name, body in pickles())
    yield from ((f"txt {text[:10]!r}", "in.txt", text.encode()) for text in TEXTS)
    yield from ((f"bin {name[:20]}", name, b"\0" * 16) for name in BINS)


def copied(path):
    """Compares with a copy, because a file is not compared with itself."""
    other = path.parent / "again" / path.name
    other.parent.mkdir(exist_ok=True)
    shutil.copy(path, other)
    return other


def commands(path):
    if path.suffix in (".txt", ".bin"):
        return [["convert", "-q", path, "-o", "out"]]
    return [["convert", "-q", path, "-o", "out"], ["show", "-q", path], ["compare", "-q", path, copied(path)], ["convert", "-q", path, "-o", "out.h5"], ["judge", "-q", path],
            ["overflow", "-q", path], ["convert", "-q", path, "-o", "out.npz"]]


def is_silent(attempt, directory):
    """A valid directory at the end of a file whose data was never written."""
    if attempt.code != 0 or (directory / "out").exists() or any(directory.glob("out.*")):
        return []
    return ["exit code 0, and nothing is written"]


def attempts(world):
    tried = [(one, number) for one in files() for number in range(7)]
    for (name, called, data), number in world.some(tried):
        path = world.fresh() / called
        path.write_bytes(data)
        choices = commands(path)
        if number >= len(choices):
            continue
        words = choices[number]
        yield f"{name}: {words[0]}", words, is_silent if words[0] == "convert" else None
