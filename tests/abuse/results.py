"""Files of results with one value replaced, for every command that reads them."""
import json

VALUES = ['null', 'true', '-1', '0', '1e308', '-1e308', '1e400', '9223372036854775808', '-9223372036854775809', '18446744073709551616', '""',
          '"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\u202e"', '"<script>alert(1)</script>"', '"=1+1"', '[]', '{}', '[[[]]]',
          '{"a": 1}', 'NaN', 'Infinity', '"' + "x" * 70_000 + '"', "[" * 70 + "]" * 70, "'x'", '"\x01"', '"\xff"', '1.7976931348623159e308']
MARK = "@@value@@"


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        if isinstance(value, list) and key > 1:
            continue
        yield from places(child, (*path, key))


def replaced(document, path, text):
    if not path:
        return text
    copy = json.loads(json.dumps(document))
    holder = copy
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = MARK
    return json.dumps(copy).replace(f'"{MARK}"', text, 1)


def readers(kind, path):
    page = ["report", path, "--html", "page.html"]
    return {
        "results": [["report", path], ["report", path, "--format", "csv"], ["report", path, "--format", "junit"],
                    ["report", path, "--format", "gbench"], page, ["explain", path], ["explain", path, "relu"]],
        "compare": [page, ["explain", path], ["explain", path, "softplus"]],
        "judge": [page, ["explain", path], ["explain", path, "softplus"]],
        "check": [page],
    }[kind]


def attempts(world):
    for kind, document in world.documents().items():
        tried = [(place, value) for place in places(document) for value in VALUES]
        for number, (place, value) in enumerate(world.some(tried)):
            path = world.fresh() / "in.json"
            path.write_bytes(replaced(document, place, value).encode("latin-1"))
            choices = readers(kind, path)
            name = f"{kind} {'.'.join(map(str, place))} = {value[:24]}"
            yield name, choices[number % len(choices)]
