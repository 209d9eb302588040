"""Folders for the inputs, and the selection of inputs to try."""
import json
import re
import shutil
import subprocess


class World:
    """`share`: with --quick, one of this many inputs of a class is tried."""

    def __init__(self, program, root, directory, share):
        self.program, self.root, self.directory, self.share = program, root, directory, share
        self.place = directory
        self.made = self.numbers = 0

    def fresh(self):
        """Creates an empty directory and removes the previous one."""
        if self.place != self.directory:
            shutil.rmtree(self.place, ignore_errors=True)
        self.made += 1
        self.place = self.directory / str(self.made)
        self.place.mkdir()
        return self.place

    def some(self, inputs, always=0):
        """Selects the first `always` inputs, then evenly spaced ones."""
        return inputs[:always] + inputs[always::self.share]

    def next_number(self):
        self.numbers += 1
        return self.numbers

    def attributes_of(self, operator):
        """Names of the selected inputs."""
        listed = subprocess.run([str(self.program), "list", operator], capture_output=True, text=True, check=False).stdout
        return re.findall(r"^  (\w+) = ", listed, re.MULTILINE)

    def documents(self):
        """Complete files of every kind that `opbench report` or `explain` accepts, by kind."""
        samples = self.root / "results/samples"
        made = {kind: json.loads((samples / f"{kind}.json").read_text()) for kind in ("results", "compare")}
        judged = self.directory / "judge.json"
        if not judged.exists():
            subprocess.run([str(self.program), "judge", "-q", str(self.root / "examples/dumps/npu.h5"), "--json", str(judged)],
                           capture_output=True, check=False)
        made["judge"] = json.loads(judged.read_text())
        return made
