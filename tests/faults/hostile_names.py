"""Names that are commands for a terminal, a shell, a CI, a browser or a spreadsheet."""
import csv
import json
import re
import shlex

from commands import CONTEXT
from damaged_files import write_dump
from world import bad_end

NAMES = [
    "\x1b[31mred", "a\n::error title=x::y", "bidi\u202eevil", "c1\u009b31m", "bell\x07", "back\x08space", "\r::warning::x",
    "<script>alert(1)</script>", "[x](javascript:alert(1))", "=1+1", "@SUM(A1)", "+1", "-cmd", "$(id)", "`id`", "a;id",
    "a' b", 'a" b', "a|b", "\\", "%s%n", "x" * 300, "\u2028line", "tab\tname",
]
# Control characters except line ends, C1 controls, bidirectional marks, line separators.
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f\x80-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def wrong_text(text):
    if RAW.search(text):
        return f"raw {RAW.search(text).group()!r} is printed"
    if any(line.startswith("::") for line in text.splitlines()):
        return "a line is a command to the CI"
    return None


def wrong_markdown(text):
    # Code blocks, and texts between backquotes, are shown unchanged.
    text = re.sub(r"^(```+)\w*\n.*?^\1\n", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    if re.search(r"(?<!\\)<script", text):
        return "Markdown holds a script"
    if re.search(r"(?<!\\)\]\(javascript", text):
        return "Markdown holds a link that is a script"
    return None


def wrong_csv(path):
    for row in csv.reader(path.read_text().splitlines()):
        for cell in row:
            if cell[:1] in "=@+-\t\r" and cell and not re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", cell):
                return f"CSV cell {cell[:20]!r} is a formula"
    return None


def wrong_reproduce(records):
    for record in records:
        line = record.get("reproduce") or "opbench"
        words = shlex.split(line)
        if words[0] != "opbench" or re.search(r"\$\(|`|;", re.sub(r"'[^']*'", "", line)):
            return f"reproduce is not quoted: {line[:80]!r}"
    return None


def case_file(name):
    return "cases:\n  - {op: relu, name: %s, inputs: [[8]]}\n" % json.dumps(name)


def context_file(name):
    return CONTEXT.replace("name: pair", "name: pair").replace("{name: npu}", "{name: npu, summary: %s}" % json.dumps(name))


def run_of(world, directory, path, text):
    path.write_text(text)
    outputs = {"--json": directory / "r.json", "--csv": directory / "r.csv", "--markdown": directory / "r.md"}
    outcome = world.run(["run", "--cases", path, "--time", "0.01", "--repetitions", "1", "--threads", "1",
                         *[word for pair in outputs.items() for word in pair]])
    wrong = [bad_end(outcome), wrong_text(outcome.text())]
    if outcome.code == 0:
        wrong += [wrong_markdown((directory / "r.md").read_text()), wrong_text((directory / "r.md").read_text()),
                  wrong_csv(directory / "r.csv"),
                  wrong_reproduce(json.loads((directory / "r.json").read_text())["records"])]
    return wrong


def dumps_of(world, directory, name):
    import h5py
    paths = [directory / "npu.h5", directory / "gpu.h5"]
    for path, device in zip(paths, (10, 1)):
        write_dump(path, device, {})
        with h5py.File(path, "a") as file:
            if device == 10:
                file["/Op2/2/output/result"][...] = 3
            file.move("/Op2", "/" + name.replace("/", "_"))
    outcome = world.run(["compare", *paths, "-o", directory / "cmp"])
    wrong = [bad_end(outcome), wrong_text(outcome.text())]
    if outcome.code in (0, 1):
        wrong.append(wrong_csv(directory / "cmp/compare.csv"))
    return wrong


def everywhere(world):
    for name in NAMES:
        for what, arguments in {
            "case name": lambda place: run_of(world, place, place / "in.yaml", case_file(name)),
            "step summary": lambda place: run_of(world, place, place / "in.yaml", context_file(name)),
            "file name": lambda place: run_of(world, place, place / (name.replace("/", "_")[:100] + ".yaml"),
                                              case_file("x")),
            "operator of a dump": lambda place: dumps_of(world, place, name),
        }.items():
            wrong = [text for text in arguments(world.fresh("names")) if text]
            yield f"{what} {name[:30]!r}: {'; '.join(wrong)}" if wrong else None
