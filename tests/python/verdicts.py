"""What opbench says of dumps, and whom it names."""

import json

from conftest import names, records


def standing_out(opbench, folder, dump, other):
    """(name, number) that `opbench compare` names; None if nobody stands out."""
    done = opbench("compare", dump, other, "-o", folder / "report", "--quiet")
    assert done.returncode in (0, 1), done.stderr
    jump = json.loads((folder / "report/compare.json").read_text())["first_jump"]
    return jump and (jump["operator"], int(jump["seq"]))


def guilty(opbench, folder, dump):
    """[(name, number)] that `opbench judge` finds guilty, in order."""
    done = opbench("judge", dump, "--json", folder / "judge.json", "--quiet", "--implementations", "none")
    assert done.returncode in (0, 1), done.stderr
    found = json.loads((folder / "judge.json").read_text())["records"]
    return sorted(((one["op"], int(one["seq"])) for one in found if one["verdict"] == "GUILTY"), key=lambda one: one[1])


def last_number(dump, name):
    """The number of the last record of a name."""
    assert name in names(dump)
    return [int(group.name.split("/")[2]) for found, group in records(dump) if found == name][-1]


def failing(opbench, folder, dump, other):
    """[(name, number)] of operators that `opbench compare` finds wrong, in order."""
    done = opbench("compare", dump, other, "-o", folder / "report", "--quiet")
    assert done.returncode in (0, 1), done.stderr
    found = json.loads((folder / "report/compare.json").read_text())["operators"]
    return sorted(((one["operator"], int(one["seq"])) for one in found if one["verdict"] == "failed"), key=lambda one: one[1])
