"""What the tests of the Python package share."""

import os
import subprocess
import sys

import h5py
import pytest
import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))
# The package asks the program for its table of operators.
PROGRAM = os.environ.setdefault("OPBENCH_PROGRAM", os.path.join(ROOT, "build/release/opbench"))
torch.set_num_threads(1)  # on a busy machine threads wait for each other


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(0)


@pytest.fixture
def opbench():
    """Runs the built program: opbench(arguments...) -> CompletedProcess."""
    if not os.path.exists(PROGRAM):
        pytest.skip("opbench is not built")
    return lambda *arguments: subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


def records(path):
    """(name, group) of each record of a dump in the order in which they ran."""
    file = h5py.File(path, "r")
    found = [(int(seq), name, file[name][seq]) for name in file for seq in file[name]]
    return [(name, group) for _, name, group in sorted(found, key=lambda item: item[0])]


def names(path):
    return [name for name, _ in records(path)]


def record(path, name, index=0):
    """The index-th call of an operator."""
    return [group for found, group in records(path) if found == name][index]
