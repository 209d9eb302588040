"""Two types of the same name break the one-definition rule in every program that includes both.

    type_names.py SOURCE_DIR

Scans the sources for types that are defined at the scope of a namespace or of another type, outside anonymous
namespaces, and fails if a qualified name is defined in two files. It reads tokens without expanding macros.
"""
import collections
import pathlib
import re
import sys
import unittest

ROOMS = ["tensor", "text", "ops", "kernels", "dump", "ingest", "compare", "convert", "harness", "cli", "opbench"]

NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
    re.DOTALL | re.MULTILINE)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*([\w:]*)$")
TYPE = re.compile(
    r"(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[[^\]]*\]\]\s*)?(?:alignas\([^)]*\)\s*)?"
    r"([\w:]+(?:<[^{;]*?>)?)\s*(?:final\s*)?(?::[^{]*)?$", re.DOTALL)


def types_of(text):
    """Returns the qualified names of the types that `text` defines outside anonymous namespaces."""
    scopes = []  # names; None for a function, an initializer or an anonymous namespace
    names = []
    statement = ""
    for token in re.split(r"([{};])", NOISE.sub(" ", text)):
        if token == "{":
            head = statement.strip()
            namespace = NAMESPACE.search(head)
            kind = TYPE.search(head)
            if namespace:
                scopes.append(namespace.group(1) or None)
            elif kind and not re.search(r"\)\s*(const|noexcept|override)?$", head):
                scopes.append(kind.group(1))
                if None not in scopes:
                    names.append("::".join(scopes))
            else:
                scopes.append(None)
        elif token == "}" and scopes:
            scopes.pop()
        statement = "" if token in "{};" else token
    return names


def duplicates(files):
    """Returns the names that several of `files` (path to text) define, with their paths."""
    found = collections.defaultdict(set)
    for path, text in files.items():
        for name in types_of(text):
            found[name].add(path)
    return {name: sorted(paths) for name, paths in found.items() if len(paths) > 1}


class TypeNames(unittest.TestCase):
    source_dir = pathlib.Path(".")

    def test_finds_a_planted_duplicate(self):
        a = "namespace opbench {\nstruct Pair { int a = {}; };\nenum class Kind { one };\n}"
        b = "namespace opbench {\nclass Pair final : public Base {};\nnamespace check { enum class Kind : int {}; }\n}"
        self.assertEqual(duplicates({"a.h": a, "b.h": b}), {"opbench::Pair": ["a.h", "b.h"]})

    def test_sees_only_what_other_files_can_see(self):
        text = """
            namespace opbench {
            struct Declared;  // struct Comment {
            namespace { struct Hidden { struct Inside {}; }; }
            Declared function(struct Other* other) { struct Local {}; return {}; }
            struct Outer { enum Mode { on }; const char* text = "struct Quoted {"; };
            template <class T> struct Of<T*> {};
            }"""
        self.assertEqual(types_of(text), ["opbench::Outer", "opbench::Outer::Mode", "opbench::Of<T*>"])

    def test_every_name_is_one_type(self):
        files = {}
        for room in ROOMS:
            for path in sorted((self.source_dir / room).rglob("*")):
                if path.suffix in (".h", ".cc"):
                    files[str(path.relative_to(self.source_dir))] = path.read_text()
        self.assertGreater(sum(len(types_of(text)) for text in files.values()), 200)
        found = duplicates(files)
        self.assertFalse(found, "\n".join(f"{name}: {', '.join(paths)}" for name, paths in found.items()))


if __name__ == "__main__":
    TypeNames.source_dir = pathlib.Path(sys.argv.pop(1))
    unittest.main()
