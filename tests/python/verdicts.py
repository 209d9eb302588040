"""What opbench says of dumps, and whom it names."""

import json

from conftest import names, records


def introduced(opbench, folder, dump, other):
    """(name, number) that `opbench compare` names; None if no operator introduces an error."""
    done = opbench("compare", dump, other, "-o", folder / "report", "--quiet")
    assert done.returncode in (0, 1), done.stderr
    first = json.loads((folder / "report/compare.json").read_text())["first_introduced"]
    return first and (first["operator"], int(first["seq"]))


def guilty(opbench, folder, dump):
    """[(name, number)] of the records that `opbench judge` reports as GUILTY, in order."""
    done = opbench("judge", dump, "--json", folder / "judge.json", "--quiet", "--implementations", "none")
    assert done.returncode in (0, 1), done.stderr
    found = json.loads((folder / "judge.json").read_text())["records"]
    return sorted(((one["op"], int(one["seq"])) for one in found if one["verdict"] == "GUILTY"), key=lambda one: one[1])


def last_number(dump, name):
    """The number of the last record of a name."""
    assert name in names(dump)
    return [int(group.name.split("/")[2]) for found, group in records(dump) if found == name][-1]


def all_introduced(opbench, folder, dump, other):
    """[(name, number)] of operators that introduce an error by `opbench compare`, in order."""
    done = opbench("compare", dump, other, "-o", folder / "report", "--quiet")
    assert done.returncode in (0, 1), done.stderr
    found = json.loads((folder / "report/compare.json").read_text())["operators"]
    return sorted(((one["operator"], int(one["seq"])) for one in found if one["origin"] == "introduced"), key=lambda one: one[1])
