"""Networks and one training step of them."""

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


class Decoder(nn.Module):
    """A block of a language model: RMS norm, rotary positions, grouped heads under a causal mask, a gated product."""

    def __init__(self, width=32, heads=4, kv_heads=2, inner=48):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        size = width // heads
        self.embedding = nn.Embedding(50, width)
        self.norms = nn.ParameterList(nn.Parameter(torch.ones(width)) for _ in range(3))
        self.q, self.k, self.v = (nn.Linear(width, n * size, bias=False) for n in (heads, kv_heads, kv_heads))
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = (nn.Linear(*n, bias=False) for n in ((width, inner), (width, inner), (inner, width)))
        self.head = nn.Linear(width, 10, bias=False)

    @staticmethod
    def normed(x, weight):
        return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    @staticmethod
    def rotated(x):
        half = x.shape[-1] // 2
        angles = torch.arange(x.shape[-2])[:, None] * 1e4 ** (-torch.arange(half) / half)
        cos, sin = (torch.cat((f(angles),) * 2, -1).to(x.dtype) for f in (torch.cos, torch.sin))
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

    def attended(self, x):
        split = [part(x).unflatten(-1, (n, -1)).transpose(1, 2)
                 for part, n in ((self.q, self.heads), (self.k, self.kv_heads), (self.v, self.kv_heads))]
        q, k = self.rotated(split[0]), self.rotated(split[1])
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, 1) for t in (k, split[2]))
        hidden = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        scores = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).masked_fill(hidden, float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = x + self.attended(self.normed(x, self.norms[0]))
        inner = self.normed(x, self.norms[1])
        x = x + self.down(torch.nn.functional.silu(self.gate(inner)) * self.up(inner))
        return self.head(self.normed(x, self.norms[2])).mean(1)


TOKEN_MODELS = {"transformer": Transformer, "decoder": Decoder}


def small_shufflenet(num_classes):
    """Two blocks a stage."""
    return torchvision.models.ShuffleNetV2([2, 2, 2], [24, 48, 96, 192, 256], num_classes)


def build(name, batch=4, size=64):
    """A model, its input and its labels, the same in each call."""
    reproducible(0).restore()
    if name in TOKEN_MODELS:
        model, x = TOKEN_MODELS[name](), torch.randint(0, 50, (batch, 12))
    else:
        make = {"shufflenet": torchvision.models.shufflenet_v2_x1_0, "shufflenet_small": small_shufflenet,
                "resnet": torchvision.models.resnet18}[name]
        model, x = make(num_classes=10), torch.randn(batch, 3, size, size)
    return model, x, torch.randint(0, 10, (batch,))


def step(model, x, y, autocast=None, rate=0.1):
    """Loss, gradients, update."""
    make = torch.optim.AdamW if isinstance(model, Decoder) else torch.optim.SGD
    optimizer = make(model.parameters(), lr=rate)
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
