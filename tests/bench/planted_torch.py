#!/usr/bin/python3
"""Checks that opbench finds the operator of a real network whose gradient is wrong.

    tests/bench/planted_torch.py [BUILD] [--network NAME]... [--plants 20] [--size 64]

Captures a training step of ShuffleNetV2, ResNet-18 and a transformer. In correct pairs (fp32 against fp64, bf16
autocast against fp32), `opbench compare` must not report an introduced error, and `opbench judge` must not report
GUILTY. Then operators at random places get a wrong gradient: compare must report this operator, judge must report it as
the first GUILTY one, and in load mode no other operator may introduce an error. Prints a row for each. Exit code 1 if
one is wrong. BUILD: build/release. Needs python3-torch and python3-torchvision."""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/python")]
import networks  # noqa: E402
import plants  # noqa: E402
import verdicts  # noqa: E402


def honest(opbench, folder, network, size):
    """Rows of (name, is correct, text)."""
    for kind in ("fp32", "fp64", "bf16"):
        networks.capture(folder / f"{kind}.h5", network, kind, size=size)
    for one, other in (("fp32", "fp64"), ("bf16", "fp32")):
        named = verdicts.introduced(opbench, folder, folder / f"{one}.h5", folder / f"{other}.h5")
        yield f"{one} against {other}", named is None, f"{named} introduces an error" if named else "nobody introduces an error"
    for kind in ("fp32", "bf16"):
        accused = verdicts.guilty(opbench, folder, folder / f"{kind}.h5")
        yield f"judge {kind}", not accused, f"{len(accused)} guilty"


def planted(opbench, folder, network, size, seed):
    """Adds one row."""
    draw = random.Random(seed)
    model, _, _ = networks.build(network, size=size)
    site, fault = draw.choice(plants.sites(model)), draw.choice(sorted(plants.FAULTS))
    paths = [folder / name for name in ("wrong.h5", "right.h5", "loaded.h5")]
    node = networks.capture(paths[0], network, change=lambda it: plants.plant(it, site, fault), size=size)
    networks.capture(paths[1], network, change=lambda it: plants.plant(it, site, None), size=size)
    networks.capture(paths[2], network, change=lambda it: plants.plant(it, site, None), size=size, mode="load",
                     load_path=paths[0])
    wanted = (node, verdicts.last_number(paths[0], node))
    named = verdicts.introduced(opbench, folder, paths[0], paths[1])
    accused = verdicts.guilty(opbench, folder, paths[0])
    failing = verdicts.all_introduced(opbench, folder, paths[2], paths[0])
    right = named == wanted and accused[:1] == [wanted] and failing == [wanted]
    return f"{fault} in {site}", right, f"{wanted}: compare {named}, judge {accused[:2]}, load mode {failing[:2]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--network", action="append", choices=["shufflenet", "shufflenet_small", "resnet", "transformer"])
    parser.add_argument("--plants", type=int, default=20)
    parser.add_argument("--size", type=int, default=64)
    options = parser.parse_args()

    def opbench(*arguments):
        return subprocess.run([options.build / "opbench", *map(str, arguments)], capture_output=True, text=True, check=False)

    wrong = 0
    for network in options.network or ["shufflenet", "resnet", "transformer"]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            rows = list(honest(opbench, folder, network, options.size))
            rows += [planted(opbench, folder, network, options.size, seed) for seed in range(options.plants)]
        for what, right, text in rows:
            wrong += not right
            print(f"{network:12} {'ok   ' if right else 'WRONG'} {what}: {text}", flush=True)
    print(f"{wrong} rows are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
