"""Three networks and one training step of them."""

import contextlib

import torch
import torchvision
from torch import nn

from opbench_torch import dumper, reproducible


class Transformer(nn.Module):
    """Two layers over a vocabulary of 50."""

    def __init__(self, width=32):
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, activation=nn.ReLU(), batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.layers(self.embedding(x)).mean(1))


def small_shufflenet(num_classes):
    """Two blocks a stage."""
    return torchvision.models.ShuffleNetV2([2, 2, 2], [24, 48, 96, 192, 256], num_classes)


def build(name, batch=4, size=64):
    """A model, its input and its labels, the same in each call."""
    reproducible(0).restore()
    if name == "transformer":
        model, x = Transformer(), torch.randint(0, 50, (batch, 12))
    else:
        make = {"shufflenet": torchvision.models.shufflenet_v2_x1_0, "shufflenet_small": small_shufflenet,
                "resnet": torchvision.models.resnet18}[name]
        model, x = make(num_classes=10), torch.randn(batch, 3, size, size)
    return model, x, torch.randint(0, 10, (batch,))


def step(model, x, y, autocast=None, rate=0.1):
    """Loss, gradients, update."""
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    with torch.autocast("cpu", autocast or torch.bfloat16, enabled=autocast is not None):
        result = model(x)
    dtype = torch.float64 if result.dtype == torch.float64 else torch.float32
    torch.nn.functional.cross_entropy(result.to(dtype), y).backward()
    optimizer.step()


def onednn_takes_bf16():
    """Not where DNNL_MAX_CPU_ISA forbids AVX-512: PyTorch asks the CPU and fails."""
    x = torch.ones(1, 8, 8, 8, dtype=torch.bfloat16)
    try:
        return torch.conv2d(x, x) is not None
    except RuntimeError:
        return False


def products(kind):
    """Where products are computed: in bf16 PyTorch's own kernels add in bf16, and those of oneDNN in fp32."""
    own = kind == "bf16 sums" or (kind == "bf16" and not onednn_takes_bf16())
    return torch.backends.mkldnn.flags(enabled=False) if own else contextlib.nullcontext()


def capture(path, name, kind="fp32", change=lambda model: None, size=64, **options):
    """A dump of one step: kind is fp32, fp64, bf16 for autocast, or "bf16 sums" for that as on a CPU without AVX-512.

    change(model) comes before; its result is returned.
    """
    model, x, y = build(name, size=size)
    if kind == "fp64":
        model, x = model.double(), x.double() if x.is_floating_point() else x
    changed = change(model)
    with products(kind), dumper(path, overwrite=True, **options):
        step(model, x, y, torch.bfloat16 if kind.startswith("bf16") else None)
    return changed
