"""HTML pages whose texts are scripts, and tables whose texts are formulas."""
import csv
import io
import json
import re

SCRIPTS = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "'\"><svg onload=alert(1)>", "<!--<script>", "]]>", "javascript:alert(1)",
           "</style><script>alert(1)</script>", "&lt;script&gt;", "${alert(1)}", "\u2028alert(1)\u2029"]
FORMULAS = ["=1+1", "@SUM(A1)", "+1+cmd|' /C calc'!A0", "-1+1", "\t=1", "\r=1", "=HYPERLINK(\"http://x\")", " =1+1", "\n=1", ";=1"]


def texts(value, path=()):
    """Places of all texts, without keys of objects."""
    if isinstance(value, str):
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from texts(child, (*path, key))


def with_text(document, places, text):
    copy = json.loads(json.dumps(document))
    for place in places:
        holder = copy
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = text
    return copy


def runs_scripts(attempt, directory):
    """Checks that a page's markup is the program's, and that its data is JSON in which no tag begins."""
    page = directory / "page.html"
    if attempt.code != 0 or not page.exists():
        return []
    html = page.read_text()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    if data is None:
        return ["the page has no data"]
    broken = ["a tag begins in the page's data"] if "<" in data.group(1) else []
    if "alert(1)" in html.replace(data.group(1), ""):
        broken.append("a text is outside of the page's data")
    return broken


def computes_formulas(attempt, directory):
    broken = []
    for path in directory.rglob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline="")):
            for cell in row:
                begins = cell.lstrip(" \t\r\n")[:1]
                if begins in ("=", "@", "+", "-") and not re.fullmatch(r"\s*[-+]?([\d.]+(e[-+]?\d+)?|inf|nan)", cell):
                    broken.append(f"CSV cell {cell[:20]!r} is a formula")
    return broken[:1]


def script_attempts(world):
    for kind, document in world.documents().items():
        places = list(texts(document))
        tried = [(f"{kind} {'.'.join(map(str, place))}", [place], script) for place in places for script in SCRIPTS]
        tried = world.some(tried) + [(f"{kind}, all texts", places, script) for script in SCRIPTS]
        for name, changed, script in tried:
            path = world.fresh() / "in.json"
            path.write_text(json.dumps(with_text(document, changed, script)))
            yield f"{name} {script[:12]}", ["report", path, "--html", "page.html"], runs_scripts


def formula_attempts(world):
    document = world.documents()["results"]
    names = ("case", "name", "op", "variant", "provider", "kernels", "shape", "attributes", "format", "reason", "formula", "copy_way", "reproduce", "isa")
    places = [place for place in texts(document) if place[0] == "records" and place[-1] in names and place[1] < 2]
    tried = [(".".join(map(str, place)), [place], formula) for place in places for formula in FORMULAS]
    for name, changed, formula in world.some(tried):
        path = world.fresh() / "in.json"
        path.write_text(json.dumps(with_text(document, changed, formula)))
        yield f"{name} {formula!r}", ["report", path, "--format", "csv", "-o", "out.csv"], computes_formulas
    for formula in FORMULAS:
        path = world.fresh() / "in.yaml"
        path.write_text(f"cases:\n  - {{op: relu, name: {json.dumps(formula)}, inputs: [[8]]}}\n")
        yield f"case {formula!r}", ["run", "-q", "--cases", path, "--time", "0.01", "--repetitions", "1", "--threads", "1", "--csv", "out.csv"], computes_formulas
        yield from dump_attempts(world, formula)


def dump_attempts(world, formula):
    import h5py
    from array_files import copied
    from dumps import tensor
    path = world.fresh() / "in.h5"
    with h5py.File(path, "w") as file:
        for side in ("input", "output"):
            tensor(file.require_group(f"{formula.replace('/', '_')}/1/{side}"), formula.replace("/", "_"))
    yield f"operator {formula!r}", ["compare", "-q", path, copied(path), "-o", "out"], computes_formulas
    yield f"operator {formula!r}, judge", ["judge", "-q", path, "--csv", "out.csv"], computes_formulas
