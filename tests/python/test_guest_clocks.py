"""Parsers of the drivers' answers, on text from their documentation. No NPU has answered here."""

import sys

import pytest

from opbench_torch.guest_clocks import Clock, ClockReader, as_answer, driver_index, npu_clock, nvidia_clock, nvidia_commands

# npu-smi info -t common -i 0, as Ascend's documentation of npu-smi shows it
NPU = """
NPU ID                         : 0
Memory Usage Rate(%)           : 0
HBM Usage Rate(%)              : 3
Aicore Usage Rate(%)           : 0
Aicore Freq(MHZ)               : 1650
Aicore curFreq(MHZ)            : 100
Aicore Count                   : 32
Temperature(C)                 : 65
NPU Real-time Power(W)         : 298.6
"""


@pytest.mark.parametrize("text, clock", [
    ("1410, 0x0000000000000000\n", Clock(1410, "")),
    ("1410, 0x0000000000000001\n", Clock(1410, "")),  # an idle GPU
    ("1200, 0x0000000000000004\n", Clock(1200, "power cap")),
    ("600, 0x0000000000000048\n", Clock(600, "hardware slowdown, hardware thermal slowdown")),
    ("[N/A], [N/A]\n", Clock(None, "")),
    ("345\n", Clock(345, "")),
    ("", Clock(None, "")),
])
def test_a_gpu(text, clock):
    assert nvidia_clock(text) == clock


def test_an_npu():
    assert npu_clock(NPU) == Clock(100, "")  # idle, not throttled
    assert npu_clock("This device does not support querying common\n") == Clock(None, "")
    assert as_answer(Clock(None, "")) == {}
    assert as_answer(Clock(100, "power cap")) == {"mhz": 100, "throttled_by": "power cap"}


def test_the_first_command_that_answers_is_used_at_most_five_times_a_second():
    fails, says = ([sys.executable, "-c", code] for code in ("raise SystemExit(1)", "print('99, 0x4')"))
    time = [0.0]
    reader = ClockReader([["no-such-command"], fails, says], nvidia_clock, now=lambda: time[0])
    assert reader.is_there()
    assert reader.read() == Clock(99, "power cap")
    reader._parse = lambda text: Clock(1)
    assert reader.read() == Clock(99, "power cap")
    time[0] = 1
    assert reader.read() == Clock(1)
    silent = ClockReader([["no-such-command"]], nvidia_clock)
    assert not silent.is_there() and silent.read() == Clock()


def test_the_name_of_a_visible_device(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert driver_index(1, "CUDA_VISIBLE_DEVICES") == "1"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, GPU-5ebe")
    assert driver_index(0, "CUDA_VISIBLE_DEVICES") == "3"
    assert nvidia_commands(driver_index(1, "CUDA_VISIBLE_DEVICES"))[0][2] == "GPU-5ebe"
