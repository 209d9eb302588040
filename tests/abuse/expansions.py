"""Contexts whose few lines expand to many nodes, and contexts with many lines."""


def chain(nodes, settings=""):
    lines = "".join(f"      - {{op: relu, in: x{i}, out: x{i + 1}}}\n" for i in range(nodes))
    return f"contexts:\n  - name: chain\n    inputs: {{x0: [8]}}\n    nodes:\n{lines}    outputs: [x{nodes}]\n{settings}"


def repeated(levels, repeats, settings=""):
    """Blocks that each include the previous block several times."""
    text = "blocks:\n  b0: {inputs: [x], nodes: [{op: relu, in: x, out: y}], outputs: [y]}\n"
    for level in range(1, levels):
        text += f"  b{level}: {{inputs: [x], nodes: [{include(level - 1, repeats)}], outputs: [y]}}\n"
    return text + (f"contexts:\n  - {{name: deep, inputs: {{x: [8]}}, nodes: [{include(levels - 1, repeats)}], "
                   f"outputs: [y]{settings}}}\n")


def include(level, repeats):
    return f"{{include: b{level}, name: n, repeat: {repeats}, in: [x], out: [y]}}"


def fan(width):
    nodes = "".join(f"      - {{op: relu, in: x, out: y{i}}}\n" for i in range(width))
    names = ", ".join(f"y{i}" for i in range(width))
    return f"contexts:\n  - name: fan\n    inputs: {{x: [8]}}\n    nodes:\n{nodes}    outputs: [{names}]\n"


def cases():
    backward = "    backward: true\n"
    yield "chain of 1,000", chain(1000)
    yield "chain of 1,000, backward", chain(1000, backward)
    yield "chain of 9,999", chain(9_999)
    yield "chain of 100,000", chain(100_000)
    yield "chain of 100,001", chain(100_001)
    yield "chain of 100,000, backward", chain(100_000, backward)
    yield "fan of 3,000", fan(3000)
    yield "fan of 100,000", fan(100_000)
    for levels, repeats in ((1, 10_000), (1, 10_001), (2, 100), (2, 1000), (3, 100), (5, 10), (8, 10), (16, 2), (16, 10_000), (17, 1)):
        yield f"{levels} blocks, each {repeats} times", repeated(levels, repeats)
        yield f"{levels} blocks, each {repeats} times, backward", repeated(levels, repeats, ", backward: true")
    for repeats in ("0", "-1", "1.5", "9223372036854775808", "'2*3'", "'2**63'", "N", "[2]", "''", "'1/0'", "'('", "'" + "(" * 10_000 + "'",
                    "'" + "1+" * 10_000 + "1'"):
        yield f"repeat {repeats[:20]}", repeated(2, repeats)
    yield "a block that holds itself", repeated(1, 1).replace("op: relu,", "include: b0, name: n,", 1)
    yield "1,001 contexts", "contexts:\n" + "".join(
        f"  - {{name: c{i}, inputs: {{x: [8]}}, nodes: [{{op: relu, in: x, out: y}}], outputs: [y]}}\n" for i in range(1001))
    yield "100 steps", chain(1, "    steps:\n" + "".join(f"      - {{name: s{i}}}\n" for i in range(100)))
    yield "10,000 inputs", ("contexts:\n  - name: c\n    inputs: {" + ", ".join(f"x{i}: [8]" for i in range(10_000))
                            + "}\n    nodes: [{op: relu, in: x0, out: y}]\n    outputs: [y]\n")
    yield "10,000 symbols", ("symbols: {" + ", ".join(f"S{i}: {i}" for i in range(10_000)) + "}\n" + chain(2))
    yield "symbols that use each other", "symbols: {A: B, B: A}\n" + chain(2).replace("[8]", "[A]")


ENDINGS = [["--time", "0.01", "--repetitions", "1", "--threads", "1", "--json", "r.json"], ["--explain"], ["--dry-run"], ["--dot", "d.dot", "--explain"]]


def attempts(world):
    for name, text in cases():
        for ending in world.some(ENDINGS):
            path = world.fresh() / "in.yaml"
            path.write_text(text)
            yield f"{name} {ending[0]}", ["run", "-q", "--cases", path, *ending]
