"""The part of opbench in the protocol of guests: starts `python -m opbench_torch serve` and asks it."""

import json
import os
import select
import subprocess
import sys

import numpy as np
from conftest import ROOT

DTYPES = {"fp64": np.float64, "fp32": np.float32, "fp16": np.float16, "bf16": np.int16, "int64": np.int64, "int32": np.int32,
          "int16": np.int16, "int8": np.int8, "uint8": np.uint8, "bool": np.bool_, "fp8_e5m2": np.uint8, "hif8": np.uint8}
GUARD = 256


class Host:
    """A guest and its memory."""

    def __init__(self, *arguments, path=(), env=()):
        self.memory = os.memfd_create("opbench")
        paths = os.pathsep.join([*map(str, path), os.path.join(ROOT, "python")])
        environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **dict(env)}
        command = [sys.executable, "-B", "-m", "opbench_torch", "serve", *map(str, arguments)]
        # The shell gives the memory its number.
        script = f'exec "$@" 3<&{self.memory}'.replace("<&", "<>/proc/self/fd/")
        self.process = subprocess.Popen(["sh", "-c", script, "sh", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment, pass_fds=[self.memory])
        self.size, self.sessions = 0, 0
        self.buffer = b""

    def ask(self, seconds=60, **request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        while b"\n" not in self.buffer:
            assert select.select([self.process.stdout], [], [], seconds)[0], f"no answer to {request}"
            read = os.read(self.process.stdout.fileno(), 1 << 16)
            if not read:
                raise EOFError(self.process.wait())
            self.buffer += read
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def describe(self):
        return self.ask(do="describe", protocol=[1, 0])

    def end(self):
        """Exit code and what was printed."""
        self.process.stdin.close()
        errors = self.process.stderr.read().decode()
        rest = self.process.stdout.read()
        code = self.process.wait()
        os.close(self.memory)
        assert rest == b"" and self.buffer == b"", "printed to standard output"
        return code, errors

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Call:
    """A session. `inputs`: (dtype, array) or (dtype, array, format); `outputs`: (dtype, shape) or (dtype, shape, format)."""

    def __init__(self, host, inputs, outputs, attrs=None, kernel=None, torch=None, op="softplus", threads=1):
        self.host = host
        self.inputs = [(dtype, np.asarray(array, DTYPES[dtype])) for dtype, array, *_ in inputs]
        self.places = []
        for number, (dtype, array_or_shape, *format_) in enumerate([*inputs, *outputs]):
            shape = list(np.shape(array_or_shape) if number < len(inputs) else array_or_shape)
            at = (host.size + GUARD + 63) // 64 * 64
            nbytes = int(np.prod(shape, dtype=int)) * np.dtype(DTYPES[dtype]).itemsize
            host.size = at + nbytes + GUARD
            self.places.append({"name": f"t{number}", "dtype": dtype, "format": (format_ or ["ND"])[0], "shape": shape,
                                "storage": shape, "at": at})
        os.ftruncate(host.memory, host.size)
        host.sessions += 1
        self.number = host.sessions
        request = {"do": "open", "session": self.number, "op": op, "case": "a case", "inputs": self.places[:len(inputs)],
                   "outputs": self.places[len(inputs):], "attrs": attrs or {}, "threads": threads, "memory": host.size}
        self.opened = host.ask(**request, **({"torch": torch} if torch else {"kernel": kernel or 0}))
        self.note = self.opened.get("note", "")

    def ask(self, do, **members):
        answer = self.host.ask(do=do, session=self.number, **members)
        self.note = answer.get("note", self.note)
        return answer

    def load(self, **members):
        for (_, array), place in zip(self.inputs, self.places):
            os.pwrite(self.host.memory, array.tobytes(), place["at"])
        for place in self.places[len(self.inputs):]:
            os.pwrite(self.host.memory, b"\x5a" * self._bytes(place), place["at"])
        return self.ask("load", **members)

    def run(self, **members):
        """The answer of `call`; outputs are read by `outputs`. `members` are of `load`. An error ends it."""
        for answer in (lambda: self.load(**members), lambda: self.ask("call"), lambda: self.ask("fetch")):
            found = answer()
            if "error" in found:
                return found
            if "seconds" in found:
                called = found
        return called

    def outputs(self):
        for (_, array), place in zip(self.inputs, self.places):
            assert os.pread(self.host.memory, self._bytes(place), place["at"]) == array.tobytes(), "an input was changed"
        return [np.frombuffer(os.pread(self.host.memory, self._bytes(place), place["at"]), DTYPES[place["dtype"]])
                .reshape(place["storage"]) for place in self.places[len(self.inputs):]]

    def result(self, **members):
        answer = self.run(**members)
        assert "error" not in answer, answer
        return self.outputs()[0]

    @staticmethod
    def _bytes(place):
        return int(np.prod(place["storage"], dtype=int)) * np.dtype(DTYPES[place["dtype"]]).itemsize
