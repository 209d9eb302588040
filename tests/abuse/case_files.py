"""Case files: attributes, lists and names of every size and kind, in every place."""
HUGE = "[" + ",".join(["1"] * 100_000) + "]"
TEXTS = ["0", "-1", "1.5", "1e400", ".inf", ".nan", "-.inf", "nan", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
         "true", "null", "~", "''", "'\\0'", '"\\u0000"', '"\\ud800"', "[]", "{}", "[[]]", "[1, [2]]", "{a: 1}", "*a", "&a 1", "!!binary AA==",
         "!!float 1", "1x1", "0x10", "0o7", "1_000", "'" + "x" * 5000 + "'", "'\u202e'", HUGE, "[" * 70 + "]" * 70,
         "{a: {b: {c: {d: 1}}}}", "2147483648", "[9223372036854775807, 9223372036854775807]", "'=1+1'", "'<script>alert(1)</script>'"]

INPUTS = {  # inputs of operators with attributes that are lists or numbers
    "pad": "[[4, 4]]", "transpose": "[[4, 4]]", "softmax": "[[4, 4]]", "softplus": "[[4, 4]]", "conv2d": "[[1, 4, 8, 8], [4, 4, 3, 3]]",
    "reshape": "[[4, 4]]", "flip": "[[4, 4]]", "roll": "[[4, 4]]", "topk": "[[4, 4]]", "one_hot": "[[4]]", "cumsum": "[[4, 4]]",
    "max_pool2d": "[[1, 4, 8, 8]]", "upsample_nearest2d": "[[1, 4, 8, 8]]", "concat": "[[4], [4]]", "split": "[[4, 4]]",
}
KEYS = ["op", "inputs", "attrs", "dtype", "dtypes", "format", "formats", "name", "count", "seed", "data", "expect", "standard", "weight_us"]
TOP = ["cases", "shapes", "contexts", "symbols", "blocks", "dtypes", "version"]


def texts(world):
    for op, inputs in INPUTS.items():
        for attribute in world.attributes_of(op):
            for value in TEXTS:
                yield f"{op} {attribute} {value[:20]}", f"cases:\n  - {{op: {op}, inputs: {inputs}, attrs: {{{attribute}: {value}}}}}\n"
                yield f"{op} {attribute} {value[:20]} beside", f"cases:\n  - {{op: {op}, inputs: {inputs}, {attribute}: {value}}}\n"
    for key in KEYS:
        for value in TEXTS:
            fields = {"op": "relu", "inputs": "[[8]]", key: value}
            yield f"{key} {value[:20]}", "cases:\n  - {" + ", ".join(f"{k}: {v}" for k, v in fields.items()) + "}\n"
    for key in TOP:
        for value in TEXTS:
            yield f"top {key} {value[:20]}", f"{key}: {value}\n"
    for shape in TEXTS:
        yield f"extent {shape[:20]}", f"cases:\n  - {{op: relu, inputs: [[8, {shape}]]}}\n"
    yield "100,000 cases", "cases:\n" + "  - {op: relu, inputs: [[8]]}\n" * 100_000
    yield "100,000 inputs", "cases:\n  - {op: concat, inputs: [" + ",".join(["[8]"] * 100_000) + "]}\n"
    yield "an anchor that doubles", "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*{'a' if i == 0 else f'b{i - 1}'}, *{'a' if i == 0 else f'b{i - 1}'}]\n" for i in range(30))
    yield "nested maps", "".join(" " * i + "a:\n" for i in range(2000))
    yield "nested lists", "- " * 20_000 + "1\n"
    yield "NUL", "cases:\n\0"
    yield "not UTF-8", "cases:\n  - {op: relu, name: \udcff, inputs: [[8]]}\n"
    yield "a byte order mark alone", "\ufeff"
    yield "empty", ""


def attempts(world):
    for name, text in world.some(list(texts(world))):
        path = world.fresh() / "in.yaml"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        quick = ["--time", "0.01", "--repetitions", "1", "--threads", "1"]
        yield name, ["run", "-q", "--cases", path, *(quick if len(text) < 400_000 else ["--dry-run"])]
