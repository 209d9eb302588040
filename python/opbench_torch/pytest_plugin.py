"""Plugin of pytest: `pytest --opbench-report FILE` writes all calls of assert_close as JSON, or Markdown if FILE ends in .md."""

from __future__ import annotations

import datetime
import json
import os
from collections import Counter
from typing import Any, Dict, List

import pytest

from . import checks

#: Number of the JSON format, and the line with which a Markdown report begins. A file without them is not replaced.
FORMAT = 1
_HEAD = "# opbench: calls of assert_close"


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("opbench").addoption(
        "--opbench-report", metavar="FILE", default=None,
        help="write the calls of opbench_torch.assert_close with their verdicts: JSON, or Markdown if FILE ends in .md")


def pytest_configure(config: Any) -> None:
    path = config.getoption("opbench_report")
    if path:
        is_worker = hasattr(config, "workerinput")  # of pytest-xdist
        if not is_worker:
            _check_target(path)
        config.pluginmanager.register(Report(config, path, is_worker), "opbench-report")


class Report:
    """Collects the calls of one run. Workers of pytest-xdist send theirs to the process that writes the file."""

    def __init__(self, config: Any, path: str, is_worker: bool) -> None:
        self._config, self._named, self._is_worker = config, path, is_worker
        self._path = os.path.abspath(path)  # tests may change the folder
        self.calls: List[Dict[str, Any]] = []
        checks.listeners.append(self._add)

    def pytest_unconfigure(self) -> None:
        checks.listeners.remove(self._add)

    def _add(self, check: checks.Check) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        self.calls.append({"test": test, **check})

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        self.calls += json.loads(getattr(node, "workeroutput", {}).get("opbench_calls", "[]"))

    def pytest_sessionfinish(self) -> None:
        if self._is_worker:
            self._config.workeroutput["opbench_calls"] = json.dumps(self.calls)
            return
        text = _markdown(self.calls) if self._path.endswith(".md") else json.dumps(_content(self.calls), indent=1) + "\n"
        partial = f"{self._path}.{os.getpid()}.partial"
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(partial, self._path)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line(f"opbench: {_counts_text(self.calls)}; {self._named}")


def _check_target(path: str) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise pytest.UsageError(f"--opbench-report {path}: the folder {folder} does not exist; make it, or choose another")
    if not os.path.exists(path) or (os.path.isfile(path) and (os.path.getsize(path) == 0 or _is_report(path))):
        return
    raise pytest.UsageError(f"--opbench-report {path}: a file that is not a report of opbench is there; choose another name")


def _is_report(path: str) -> bool:
    with open(path, encoding="utf-8", errors="replace") as file:
        head = file.read(200)
    return head.startswith(_HEAD) or '"opbench_pytest":' in head


def _content(calls: List[Dict[str, Any]]) -> Dict[str, Any]:
    from . import __version__

    date = datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds")
    return {"opbench_pytest": FORMAT, "version": __version__, "date": date, "counts": _counts(calls), "calls": calls}


def _counts(calls: List[Dict[str, Any]]) -> Dict[str, int]:
    found = Counter(call["verdict"] for call in calls)
    return {verdict: found[verdict] for verdict in ("GUILTY", "OK", "UNKNOWN")}


def _counts_text(calls: List[Dict[str, Any]]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in _counts(calls).items())


def _markdown(calls: List[Dict[str, Any]]) -> str:
    lines = [_HEAD, "", _counts_text(calls), "",
             "| verdict | operator | dtype | inputs | error / bound | claim | test | reason |",
             "|---|---|---|---|---|---|---|---|"]
    for call in calls:
        shapes = " ".join("x".join(map(str, value["shape"])) or "1" for value in call["inputs"] if "shape" in value)
        cells = [call["verdict"], call["operator"], call["dtype"], shapes, _ratio_text(call), call["claim"], call["test"],
                 call["reason"]]
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


# `judge` prints the error bound of wrong elements alone. Under a claim the bound is a wider one.
def _ratio_text(call: Dict[str, Any]) -> str:
    ratio = call["worst_error_by_bound"]
    return f"{ratio:.3g}" if ratio is not None else "<= 1" if call["verdict"] == "OK" and not call["claim"] else ""


def _cell(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    return "<br>".join(escaped.splitlines())
