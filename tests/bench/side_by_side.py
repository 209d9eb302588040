"""Runs cases through opbench and through PyTorch, with equal shapes, dtypes and numbers of threads."""
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Freed memory is kept and reused instead of being returned to the system and faulted in for every call.
ALLOCATOR = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(256 << 20),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}


def words(text):
    return [word for word in text.split(",") if word]


def opbench_round(options, cases, threads, verify):
    """Returns {(case, variant, threads): record} of one run of the program."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results.json")
        command = [options.opbench, "-q", "--threads", threads, "--time", str(options.time), "--repetitions", "5"]
        command += ["--json", path] + ([] if verify else ["--no-verify"])
        if options.variant:
            command += ["--variant", options.variant]
        for case in cases:
            command += ["--case", case]
        result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}\n{result.stderr}")
        with open(path, encoding="utf-8") as file:
            records = json.load(file)["records"]
    # Ids contain their default attributes, in the order of the cases.
    written, names = list(dict.fromkeys(record["case"] for record in records)), {}
    for case, name in zip(cases, written):
        names[name] = case
    return {(names[r["case"]], r["variant"], r["threads"]): r for r in records}


def torch_microseconds(torch, call, seconds):
    """Returns the median of five samples of `call`, each long enough for the clock."""
    with torch.inference_mode():
        call()
        start = time.perf_counter()
        call()
        once = max(time.perf_counter() - start, 1e-7)
        count = max(1, int(seconds / 5 / once))
        for _ in range(max(1, count // 5)):
            call()
        samples = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(count):
                call()
            samples.append((time.perf_counter() - start) / count * 1e6)
    return statistics.median(samples)


class Tensors:
    """Inputs like opbench's: normal numbers, evenly spaced indices."""

    def __init__(self, torch, dtype):
        self.torch = torch
        self.dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
        torch.manual_seed(7)

    def normal(self, *shape):
        return self.torch.randn(shape).to(self.dtype)

    def uniform(self, *shape):
        return self.torch.rand(shape).to(self.dtype)

    def empty(self, *shape, dtype=None):
        return self.torch.zeros(shape, dtype=dtype or self.dtype)

    def index(self, limit, *shape):
        return self.torch.randint(0, limit, shape)

    def permutation(self, count):
        return self.torch.randperm(count)


def torch_times(torch, options, cases, dtype, threads):
    """Returns {(case, threads): (microseconds, name of the fastest computation)}, without cases that PyTorch cannot
    compute in this dtype."""
    times = {}
    for case in cases:
        try:
            calls = case.torch_calls(torch, Tensors(torch, dtype))
        except (RuntimeError, NotImplementedError) as error:
            calls = no_calls_if_missing(error)
        for name, call in calls.items():
            try:
                for count in threads:
                    set_threads(torch, count)
                    time = (torch_microseconds(torch, call, options.time), name)
                    times[case, count] = min(time, times.get((case, count), time))
            except (RuntimeError, NotImplementedError) as error:
                no_calls_if_missing(error)
    return times


def set_threads(torch, count):
    """OpenBLAS, which PyTorch of Debian uses for products in fp32 if it is installed, has its own number of threads."""
    torch.set_num_threads(count)
    try:
        ctypes.CDLL("libblas.so.3").openblas_set_num_threads(count)
    except (AttributeError, OSError):
        pass


def no_calls_if_missing(error):
    """Returns no calls if the error says that PyTorch has no such computation for a dtype, or oneDNN none for this
    instruction set, else raises it."""
    known = "not implemented", "expected scalar type", "could not create a primitive"
    if not any(words in str(error).lower() for words in known):
        raise error
    return {}
