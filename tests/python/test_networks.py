"""Whole networks: a pair of correct dumps has no headline, planted faults are named. tests/bench/planted_torch.py tries more of them."""

import random

import pytest

import networks
import plants
import verdicts

NETWORKS = [("shufflenet_small", 64), ("transformer", 0)]
HONEST = [*NETWORKS, ("resnet", 32), ("decoder", 0)]


@pytest.mark.parametrize("name, size", HONEST)
def test_honest_pairs_accuse_nobody(tmp_path, opbench, name, size):
    for kind in ("fp32", "fp64", "bf16", "bf16 sums"):
        networks.capture(tmp_path / f"{kind}.h5", name, kind, size=size)
    for one, other in (("fp32", "fp64"), ("bf16", "fp32"), ("bf16 sums", "fp32"), ("bf16 sums", "bf16")):
        assert verdicts.introduced(opbench, tmp_path, tmp_path / f"{one}.h5", tmp_path / f"{other}.h5") is None, one
    for kind in ("fp32", "bf16", "bf16 sums"):
        assert verdicts.guilty(opbench, tmp_path, tmp_path / f"{kind}.h5") == [], kind


@pytest.mark.parametrize("name, size, seed", [(name, size, seed) for name, size in NETWORKS for seed in (0, 1)])
def test_the_planted_operator_is_named(tmp_path, opbench, name, size, seed):
    draw = random.Random(seed)
    site, fault = draw.choice(plants.sites(networks.build(name, size=size)[0])), draw.choice(sorted(plants.FAULTS))
    wrong, right, loaded = (tmp_path / f"{what}.h5" for what in ("wrong", "right", "loaded"))
    node = networks.capture(wrong, name, change=lambda model: plants.plant(model, site, fault), size=size)
    networks.capture(right, name, change=lambda model: plants.plant(model, site, None), size=size)
    networks.capture(loaded, name, change=lambda model: plants.plant(model, site, None), size=size, mode="load", load_path=wrong)
    planted = (node, verdicts.last_number(wrong, node))
    assert verdicts.introduced(opbench, tmp_path, wrong, right) == planted
    assert verdicts.guilty(opbench, tmp_path, wrong)[0] == planted
    # Fed with the inputs of the wrong run, a right one differs from it there alone.
    assert verdicts.all_introduced(opbench, tmp_path, loaded, wrong) == [planted]
