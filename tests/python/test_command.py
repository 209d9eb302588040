"""python -m opbench_torch on a script that knows nothing of it."""

import os
import subprocess
import sys
import textwrap

import pytest
from conftest import ROOT, names

SCRIPT = """
    import sys
    import torch
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.DataLoader(torch.randn(8, 3), batch_size=2, num_workers=1)
    for step, x in enumerate(data):
        model(x).sum().backward()
        optimizer.step()
        print("step", step, sys.argv[1:], __name__, flush=True)
    if "fail" in sys.argv:
        raise ValueError("the script's own")
"""


@pytest.fixture
def command(tmp_path):
    (tmp_path / "train.py").write_text(textwrap.dedent(SCRIPT))
    environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}
    return lambda *arguments: subprocess.run([sys.executable, "-B", "-m", "opbench_torch", *arguments], cwd=tmp_path,
                                             env=environment, capture_output=True, text=True, check=False)


def test_a_script_is_captured_for_one_step_and_ends(tmp_path, command):
    done = command("capture", "train.py", "--steps", "1", "--out", "gpu.h5", "--", "--rate", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "step 0 ['--rate', '3'] __main__\n"
    assert names(tmp_path / "gpu.h5").count("addmm") == 1 and "AddmmBackward0" in names(tmp_path / "gpu.h5")
    again = command("capture", "train.py", "--out", "gpu.h5")
    assert again.returncode == 2 and "gpu.h5 exists" in again.stderr and again.stdout == ""


def test_a_script_that_fails_fails_as_ever(tmp_path, command):
    done = command("capture", "train.py", "--steps", "1", "--go-on", "--out", "gpu.h5", "--", "fail")
    assert done.returncode == 1 and "the script's own" in done.stderr and done.stdout.count("step") == 4
    assert names(tmp_path / "gpu.incomplete.h5").count("addmm") == 1


def test_bad_use_says_what_to_do(command):
    done = command("capture", "absent.py")
    assert done.returncode == 2 and "absent.py is not a file" in done.stderr


def test_a_script_gives_cases(tmp_path, command):
    done = command("cases", "train.py", "-o", "model.yaml")
    assert done.returncode == 0 and done.stdout.count("step") == 1, done.stderr
    assert "op: addmm" in (tmp_path / "model.yaml").read_text()
    assert command("cases", "train.py", "-o", "model.yaml").returncode == 2


def test_a_module_of_a_script_gives_a_context(tmp_path, command):
    script = (tmp_path / "train.py").read_text().replace("torch.nn.Linear(3, 2)", "torch.nn.Sequential(torch.nn.Linear(3, 2))")
    (tmp_path / "train.py").write_text(script)
    done = command("cases", "train.py", "-o", "unit.yaml", "--context", "0")
    assert done.returncode == 0, done.stderr
    assert "op: linear, in: [input, weight, bias]" in (tmp_path / "unit.yaml").read_text()
    assert "the model has 0" in command("cases", "train.py", "-o", "x.yaml", "--context", "1").stderr
