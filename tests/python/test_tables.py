"""Results as pandas tables."""

import builtins
import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT

from opbench_torch import DumperError, read

SAMPLES = os.path.join(ROOT, "results/samples")
pandas = pytest.importorskip("pandas")


def test_results_have_a_row_for_each_record():
    path = os.path.join(SAMPLES, "results.json")
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    table = read(path)
    assert len(table) == len(content["records"]) and "samples_us" not in table
    assert table["median_us"].dropna().gt(0).all() and table.attrs["machine"]["cpu"] == content["machine"]["cpu"]
    best = table[table["best"] == True]  # noqa: E712  as pandas selects
    assert set(best["status"]) <= {"passed", "mistrusted", "suspicious"}
    samples = read(path, "samples")
    assert list(samples.columns) == ["case", "variant", "threads", "sample", "time_us"]
    timed = next(record for record in content["records"] if record["samples_us"])
    mine = samples[(samples.case == timed["case"]) & (samples.variant == timed["variant"]) & (samples.threads == timed["threads"])]
    assert mine.time_us.median() == pytest.approx(timed["median_us"], rel=1e-3)


def test_what_opbench_writes_is_read(tmp_path, opbench):
    dumps = os.path.join(ROOT, "examples/dumps")
    opbench("compare", os.path.join(dumps, "npu.h5"), os.path.join(dumps, "gpu.h5"), "-o", tmp_path, "--quiet")
    tensors, operators = read(tmp_path / "compare.json"), read(tmp_path / "compare.json", "operators")
    assert {"operator", "tensor", "verdict", "max_abs"} <= set(tensors) and len(tensors) == 9
    assert operators[operators.verdict == "failed"].operator.tolist()[0] == "softplus"
    assert tensors.attrs["counts"]["failed"] == 5
    opbench("judge", os.path.join(dumps, "npu.h5"), "--json", tmp_path / "judge.json", "--quiet")
    assert "GUILTY" in set(read(tmp_path / "judge.json").verdict)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.json").write_text("[1]")
    (tmp_path / "c.json").write_text("{")
    for name, text in (("a", "is not a results.json"), ("b", "holds a list"), ("c", "cannot be read"), ("absent", "cannot be read")):
        with pytest.raises(DumperError, match=text):
            read(tmp_path / f"{name}.json")
    with pytest.raises(DumperError, match="no table 'x'; it has 'samples' and 'tasks'"):
        read(os.path.join(SAMPLES, "results.json"), "x")


def test_without_pandas_it_says_so(monkeypatch):
    original = builtins.__import__

    def without(name, *arguments):
        if name == "pandas":
            raise ImportError(name)
        return original(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DumperError, match="python3-pandas"):
        read(os.path.join(SAMPLES, "results.json"))


def without(modules, code):
    """What a Python in which these modules are not installed prints for the code, and its exit code."""
    absent = "".join(f"sys.modules[{name!r}] = None; " for name in modules)
    done = subprocess.run([sys.executable, "-c", f"import sys; {absent}{code}"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})
    return done.returncode, done.stdout, done.stderr


def test_tables_need_neither_torch_nor_numpy_themselves():
    code, out, _ = without(["torch", "numpy", "h5py"], "from opbench_torch import read; print(read.__name__)")
    assert (code, out) == (0, "read\n")


def test_importing_the_package_imports_nothing_large():
    code = "import opbench_torch, opbench_torch.pytest_plugin; print({'torch', 'numpy', 'h5py', 'pandas'} & set(sys.modules))"
    assert without([], code) == (0, "set()\n", "")


def test_functions_stay_functions_when_modules_of_their_names_are_imported():
    code = ("import opbench_torch.cases, opbench_torch.context, opbench_torch as o; "
            "print(callable(o.cases), callable(o.context), set(o.__all__) <= set(dir(o)))")
    assert without([], code) == (0, "True True True\n", "")


def test_what_is_not_installed_is_named():
    code, _, error = without(["torch"], "from opbench_torch import assert_close")
    assert code == 1 and "DumperError: assert_close needs torch, which is not installed: pip install torch numpy h5py" in error
    code, _, error = without(["numpy"], "from opbench_torch import dumper")
    assert code == 1 and "DumperError: dumper needs numpy, which is not installed: pip install torch numpy h5py" in error
    run = "sys.argv = ['opbench_torch', 'capture', 'x.py', '--out', 'x.h5']; import runpy; runpy.run_module('opbench_torch', run_name='__main__')"
    code, _, error = without(["numpy"], run)
    assert (code, error) == (2, "opbench: opbench_torch needs numpy, which is not installed: pip install torch numpy h5py\n")
