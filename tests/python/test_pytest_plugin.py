"""pytest --opbench-report: every call of assert_close, with its verdict."""

import json
import os
import subprocess
import sys

import pytest
from conftest import PROGRAM, ROOT

import opbench_torch
from opbench_torch import pytest_plugin

TESTS = """
import numpy as np
import opbench_torch
import pytest

X = np.linspace(-20, 80, 256)

def check(actual, op, **attrs):
    opbench_torch.assert_close(np.float32(actual), op=op, inputs=[np.float32(X)], **attrs)

def test_right():
    check(np.logaddexp(np.float32(X), 0.0), "softplus", beta=1)

@pytest.mark.parametrize("shift", [0, 1])
def test_wrong(shift):
    check(np.float32(X) ** 2.0 + shift, "pow", exponent=2)

def test_unknown():
    check(X, "a|<b>")

def test_of_something_else():
    assert True
"""


@pytest.fixture
def run(tmp_path, opbench):
    """Runs pytest in a folder with these tests: run(options...) -> CompletedProcess."""
    (tmp_path / "test_mine.py").write_text(TESTS)
    environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python"), "OPBENCH_PROGRAM": PROGRAM}

    def pytest_of(*options, path=""):
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        paths = os.pathsep.join([environment["PYTHONPATH"], path])
        return subprocess.run(command, cwd=tmp_path, env={**environment, "PYTHONPATH": paths}, capture_output=True, text=True,
                              check=False)

    return pytest_of


PLUGIN = ("-p", "opbench_torch.pytest_plugin")


def check_calls(calls):
    assert sorted((call["test"], call["verdict"]) for call in calls) == [
        ("test_mine.py::test_right", "OK"), ("test_mine.py::test_unknown", "UNKNOWN"),
        ("test_mine.py::test_wrong[0]", "OK"), ("test_mine.py::test_wrong[1]", "GUILTY")]


def check_markdown(lines):
    assert lines[0] == "# opbench: calls of assert_close" and lines[2] == "1 GUILTY, 2 OK, 1 UNKNOWN"
    assert lines[6].startswith("| OK | softplus | fp32 | 256 | &lt;= 1 |  | test_mine.py::test_right |")
    assert "| UNKNOWN | a\\|&lt;b> |" in lines[9]


def test_the_report_has_every_call(run, tmp_path):
    done = run(*PLUGIN, "--opbench-report", "report.json")
    assert done.returncode == 1 and "1 GUILTY, 2 OK, 1 UNKNOWN" in done.stdout, done.stdout + done.stderr
    assert "2 failed, 3 passed" in done.stdout
    assert "AssertionError: GUILTY: pow fp32, inputs self [256]" in done.stdout and "opbench_torch/" not in done.stdout  # no frame
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["opbench_pytest"] == 1 and report["counts"] == {"GUILTY": 1, "OK": 2, "UNKNOWN": 1}
    check_calls(report["calls"])
    right, _, wrong, unknown = report["calls"]
    assert (right["operator"], right["dtype"], right["worst_error_by_bound"]) == ("softplus", "fp32", None)
    assert right["inputs"] == [{"name": "self", "shape": [256], "dtype": "fp32"}, {"name": "attributes/beta", "value": 1}]
    assert right["outputs"][0]["elements"] == 256 and right["outputs"][0]["wrong"] is False
    assert wrong["worst_error_by_bound"] > 1 and "exceed their error bound" in wrong["reason"]
    assert "operator 'a|<b>' is not known" in unknown["reason"]
    check_markdown(pytest_plugin._markdown(report["calls"]).splitlines())
    pandas = pytest.importorskip("pandas")
    table = opbench_torch.read(tmp_path / "report.json")
    assert isinstance(table, pandas.DataFrame) and table.verdict.tolist() == ["OK", "OK", "GUILTY", "UNKNOWN"]


def test_only_a_report_is_replaced(tmp_path):
    for name, text in (("a.json", json.dumps(pytest_plugin._content([]), indent=1)), ("b.md", pytest_plugin._markdown([])), ("c.json", "")):
        (tmp_path / name).write_text(text)
        pytest_plugin._check_target(str(tmp_path / name))
    (tmp_path / "mine.json").write_text('{"a": 1}')
    for path, text in (("mine.json", "a file that is not a report of opbench is there"), ("no/such.json", "does not exist; make it"),
                       ("", "a file that is not a report")):
        with pytest.raises(pytest.UsageError, match=text):
            pytest_plugin._check_target(str(tmp_path / path))


def test_an_installed_package_registers_the_plugin_once(run, tmp_path):
    tomllib = pytest.importorskip("tomllib")
    with open(os.path.join(ROOT, "python/pyproject.toml"), "rb") as file:
        points = tomllib.load(file)["project"]["entry-points"]["pytest11"]
    installed = tmp_path / "installed/opbench_torch-0.1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: opbench_torch\nVersion: 0.1.0\n")
    (installed / "entry_points.txt").write_text("[pytest11]\n" + "".join(f"{name} = {place}\n" for name, place in points.items()))
    (tmp_path / "mine.json").write_text("mine")
    done = run("--opbench-report", "mine.json", path=str(installed.parent))
    assert done.returncode == 4 and done.stderr.startswith("ERROR: --opbench-report mine.json: a file"), done.stdout + done.stderr
    for options in ((), PLUGIN):
        done = run(*options, "--opbench-report", "report.json", "-k", "else", path=str(installed.parent))
        assert done.returncode == 0, done.stdout + done.stderr


def test_workers_of_xdist_send_their_calls(run, tmp_path):
    pytest.importorskip("xdist")
    done = run(*PLUGIN, "-n", "2", "--opbench-report", "report.json", "-k", "right or else")
    assert "0 GUILTY, 1 OK, 0 UNKNOWN" in done.stdout, done.stdout + done.stderr
    calls = json.loads((tmp_path / "report.json").read_text())["calls"]
    assert [(call["test"], call["verdict"]) for call in calls] == [("test_mine.py::test_right", "OK")]
