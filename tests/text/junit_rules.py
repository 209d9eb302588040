"""Checks JUnit files against the schema of Jenkins' xUnit plugin (junit-10.xsd): the elements below with these
attributes and children, and SUREFIRE_TIME, seconds with at most three decimals. Prints the names of all test cases."""
import re
import sys
import xml.etree.ElementTree as ElementTree

COUNTS = {"tests", "failures", "errors"}
# element: (attributes it must have, attributes it may have, children)
RULES = {
    "testsuites": (set(), {"name", "time"} | COUNTS, {"testsuite"}),
    "testsuite": ({"name"} | COUNTS,
                  {"time", "skipped", "timestamp", "hostname", "id", "package", "file", "log",
                   "url", "version", "group"},
                  {"testsuite", "properties", "testcase", "system-out", "system-err"}),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": ({"name"}, {"time", "classname", "group"},
                 {"skipped", "error", "failure", "system-out", "system-err"}),
    "skipped": (set(), {"message", "type"}, set()),
    "failure": (set(), {"message", "type"}, set()),
    "error": (set(), {"message", "type"}, set()),
    "system-out": (set(), set(), set()),
    "system-err": (set(), set(), set()),
}
SUREFIRE_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")


def check(element):
    must, may, children = RULES[element.tag]
    given = set(element.keys())
    assert must <= given, f"{element.tag} lacks {must - given}"
    assert given <= must | may, f"{element.tag} may not have {given - must - may}"
    time = element.get("time")
    assert time is None or SUREFIRE_TIME.fullmatch(time), f"{element.tag} time={time}"
    for child in element:
        assert child.tag in children, f"{child.tag} in {element.tag}"
        check(child)


def main():
    for path in sys.argv[1:]:
        root = ElementTree.parse(path).getroot()
        assert root.tag == "testsuites"
        check(root)
        for case in root.iter("testcase"):
            print(case.get("classname"), case.get("name"))


main()
