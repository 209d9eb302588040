#!/usr/bin/env python3
"""Holds PyTorch's results in fp64 to opbench's error bounds: tests/golden/torch_calls.py [OPERATOR..] [--calls 200]

Each operator is called with random shapes, attributes and values. The same formula is given to `opbench_torch.assert_close`:
both are in fp64, so opbench's reference has to agree to fp64 rounding. Prints a line for each operator; exit code 1 if a
result is wrong or cannot be checked."""

from __future__ import annotations

import argparse
import os
import random
import sys
from typing import Any, Callable, Dict, List, Sequence, Tuple

import torch
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import opbench_torch  # noqa: E402

Tensor = torch.Tensor
#: The results of PyTorch, the inputs and attributes of opbench.
Call = Tuple[Any, Sequence[Any], Dict[str, Any]]


class Draw:
    """Random shapes and tensors of one call."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        torch.manual_seed(seed)

    def shape(self, least: int = 1, most: int = 4) -> List[int]:
        return [self.random.randint(1, 7) for _ in range(self.random.randint(least, most))]

    def tensor(self, shape: Sequence[int]) -> Tensor:
        return torch.randn(list(shape), dtype=torch.float64) * self.random.choice([0.3, 1, 4])

    def any(self, least: int = 1, most: int = 4) -> Tensor:
        return self.tensor(self.shape(least, most))

    def integers(self, shape: Sequence[int], least: int, most: int, dtype: torch.dtype = torch.int64) -> Tensor:
        return torch.randint(least, most + 1, list(shape), dtype=dtype)


def with_gradient(op: str, compute: Callable[[Draw], Call]) -> Dict[str, Callable[[Draw], Call]]:
    """The operator, and op_grad(dy, x) of its first input."""

    def gradient(draw: Draw) -> Call:
        y, inputs, attrs = compute(draw)
        dy = draw.tensor(y.shape)
        return torch.autograd.grad(y, inputs[0], dy)[0], [dy, *inputs], attrs

    return {op: compute, f"{op}_grad": gradient}


def unary(op: str, function: Callable[..., Tensor], **attrs: Callable[[Draw], Any]) -> Dict[str, Callable[[Draw], Call]]:
    def compute(draw: Draw) -> Call:
        x, drawn = draw.any().requires_grad_(), {name: value(draw) for name, value in attrs.items()}
        return function(x, *drawn.values()), [x], drawn

    return with_gradient(op, compute)


def one_of(*values: Any) -> Callable[[Draw], Any]:
    return lambda draw: draw.random.choice(values)


def integer(function: Callable[..., Tensor], inputs: int = 2) -> Callable[[Draw], Call]:
    """Whole numbers of every size, also extreme ones."""

    def compute(draw: Draw) -> Call:
        dtype = draw.random.choice([torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
        info = torch.iinfo(dtype)
        shape = draw.shape()
        given = []
        for _ in range(inputs):
            values = draw.integers(shape, max(info.min, -100), min(info.max, 100), dtype)
            values[torch.rand(shape) < 0.2] = draw.random.choice([info.min, info.max, 0, 1])
            given.append(values)
        return function(*given), given, {}

    return compute


def cumsum(draw: Draw) -> Call:
    x = draw.any()
    axis = draw.random.randrange(x.dim())
    return x.cumsum(axis), [x], {"dim": axis}


def nonzero(draw: Draw) -> Call:
    x = draw.any() * (torch.rand(1) < 0.9)
    x[torch.rand(x.shape) < 0.5] = 0
    places = x.nonzero()
    return places, [x], {"rows": len(places)}


def norm(draw: Draw) -> Call:
    x, p = draw.any().requires_grad_(), draw.random.choice([1.0, 2.0, 3.0, float("inf")])
    return torch.linalg.vector_norm(x, p), [x], {"p": p}


def rope(draw: Draw) -> Call:
    x = draw.tensor([*draw.shape(3, 3), 2 * draw.random.randint(1, 5)]).requires_grad_()
    cos, sin = (draw.tensor([1, *x.shape[1:]]) for _ in range(2))
    mode = draw.random.choice(["half", "interleave"])
    a, b = x.chunk(2, -1) if mode == "half" else (x[..., ::2], x[..., 1::2])
    turned = torch.cat((-b, a), -1) if mode == "half" else torch.stack((-b, a), -1).flatten(-2)
    return x * cos + turned * sin, [x, cos, sin], {"mode": mode}


def scatter(draw: Draw) -> Call:
    x = draw.any()
    dim = draw.random.randrange(x.dim())
    index = draw.integers([draw.random.randint(1, n) for n in x.shape], 0, x.shape[dim] - 1)
    source = draw.tensor(index.shape)
    return x.scatter_add(dim, index, source), [x, index, source], {"dim": dim, "reduce": "add"}


def triangle(function: Callable[..., Tensor]) -> Callable[[Draw], Call]:
    def compute(draw: Draw) -> Call:
        x, diagonal = draw.any(2), draw.random.randint(-4, 4)
        return function(x, diagonal), [x], {"diagonal": diagonal}

    return compute


def swiglu(draw: Draw) -> Call:
    shape = draw.shape()
    dim = draw.random.randrange(len(shape))
    shape[dim] *= 2
    x = draw.tensor(shape).requires_grad_()
    gate, value = x.chunk(2, dim)
    return F.silu(gate) * value, [x], {"dim": dim}


def rms_norm(draw: Draw) -> Call:
    x, epsilon = draw.any(), draw.random.choice([1e-6, 1e-3])
    gamma = draw.tensor(x.shape[-1:])
    rstd = torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon)
    return [x * rstd * gamma, rstd], [x, gamma], {"epsilon": epsilon}


def group_norm(draw: Draw) -> Call:
    groups = draw.random.randint(1, 3)
    x = draw.tensor([draw.random.randint(1, 3), groups * draw.random.randint(1, 3), *draw.shape(1, 2), 3])
    weight, bias = draw.tensor([x.shape[1]]), draw.tensor([x.shape[1]])
    return F.group_norm(x, groups, weight, bias), [x, weight, bias], {"groups": groups, "eps": 1e-5}


def attention(draw: Draw) -> Call:
    b, n, s, t, d = (draw.random.randint(1, 6) for _ in range(5))
    q, k, v = draw.tensor([b, n, s, d]), draw.tensor([b, n, t, d]), draw.tensor([b, n, t, d])
    scores = q @ k.transpose(-1, -2) / d ** 0.5
    mask = torch.rand(s, t) < 0.7
    mask[:, 0] = True
    return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v, [q, k, v, mask], {}


def convolution(axes: int) -> Dict[str, Callable[[Draw], Call]]:
    """A convolution and its gradients by the input and the weight."""

    def compute(draw: Draw) -> Call:
        groups = draw.random.randint(1, 3)
        extents, kernel = ([draw.random.randint(least, most) for _ in range(axes)] for least, most in ((5, 7), (1, 3)))
        x = draw.tensor([draw.random.randint(1, 2), groups * draw.random.randint(1, 2), *extents])
        weight = draw.tensor([groups * draw.random.randint(1, 2), x.shape[1] // groups, *kernel])
        numbers = {name: [draw.random.randint(least, 2) for _ in range(axes if draw.random.random() < 0.7 else 1)]
                   for name, least in (("stride", 1), ("padding", 0), ("dilation", 1))}
        wide = {name: tuple(number * (axes // len(number))) for name, number in numbers.items()}
        bias = draw.tensor([weight.shape[0]]) if draw.random.random() < 0.5 else None
        function = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[axes]
        y = function(x.requires_grad_(), weight.requires_grad_(), bias, groups=groups, **wide)
        return y, [t for t in (x, weight, bias) if t is not None], {**numbers, "groups": groups}

    def gradient(of: int, other: int, **size: int) -> Callable[[Draw], Call]:
        def compute_gradient(draw: Draw) -> Call:
            y, inputs, attrs = compute(draw)
            dy = draw.tensor(y.shape)
            sizes = {name: list(inputs[of].shape)[first:] for name, first in size.items()}
            return torch.autograd.grad(y, inputs[of], dy)[0], [dy, inputs[other]], {**attrs, **sizes}

        return compute_gradient

    first = 2 if axes == 2 else 0  # conv2d takes height and width only
    return {f"conv{axes}d": compute, f"conv{axes}d_grad_input": gradient(0, 1, input_size=first),
            f"conv{axes}d_grad_weight": gradient(1, 0, **{"kernel_size" if axes == 2 else "weight_size": first})}


def upsampled(function: Callable[..., Tensor], **attrs: Callable[[Draw], Any]) -> Callable[[Draw], Call]:
    """Planes resized to a size, or by a scale."""

    def compute(draw: Draw) -> Call:
        x = draw.tensor(draw.shape(4, 4)).requires_grad_()
        size = [draw.random.randint(1, 9), draw.random.randint(1, 9)]
        drawn = {name: value(draw) for name, value in attrs.items()}
        scales: List[Any] = [None, None]
        if draw.random.random() < 0.5:
            scales = [draw.random.choice([0.5, 0.7, 1.0, 1.5, 2.0, 3.3]) for _ in range(2)]
            size = [max(1, int(extent * scale)) for extent, scale in zip(x.shape[2:], scales)]
        y = function(x, size, *drawn.values(), *scales)
        return y, [x], {"output_size": size, **drawn, "scale_h": scales[0] or 0.0, "scale_w": scales[1] or 0.0}

    return compute


def upsample_bilinear2d() -> Dict[str, Callable[[Draw], Call]]:
    compute = upsampled(torch._C._nn.upsample_bilinear2d, align_corners=one_of(False, True))

    def gradient(draw: Draw) -> Call:
        y, inputs, attrs = compute(draw)
        dy = draw.tensor(y.shape)
        attrs = {name: value for name, value in attrs.items() if name != "output_size"}
        return torch.autograd.grad(y, inputs[0], dy)[0], [dy], {**attrs, "input_size": list(inputs[0].shape[2:])}

    return {"upsample_bilinear2d": compute, "upsample_bilinear2d_grad": gradient}


def grid_sample() -> Dict[str, Callable[[Draw], Call]]:
    """Points inside and outside of the planes."""

    def compute(draw: Draw) -> Call:
        x, (height, width) = draw.tensor(draw.shape(4, 4)), draw.shape(2, 2)
        grid = draw.tensor([x.shape[0], height, width, 2])
        attrs = {"mode": draw.random.choice(["bilinear", "nearest"]),
                 "padding_mode": draw.random.choice(["zeros", "border", "reflection"]),
                 "align_corners": draw.random.random() < 0.5}
        if attrs["mode"] == "bilinear" and draw.random.random() < 0.3:  # points between two elements, also at borders
            grid = (grid * 4).round() / 4
        return F.grid_sample(x.requires_grad_(), grid.requires_grad_(), **attrs), [x, grid], attrs

    def gradient(draw: Draw) -> Call:
        y, inputs, attrs = compute(draw)
        dy = draw.tensor(y.shape)
        return list(torch.autograd.grad(y, inputs, dy)), [dy, *inputs], attrs

    return {"grid_sample": compute, "grid_sample_grad": gradient}


CALLS: Dict[str, Callable[[Draw], Call]] = {
    **unary("silu", F.silu), **unary("mish", F.mish), **unary("erf", torch.erf), **unary("sin", torch.sin),
    **unary("cos", torch.cos), **unary("hardswish", F.hardswish), **unary("hardsigmoid", F.hardsigmoid),
    **unary("elu", F.elu, alpha=one_of(1.0, 0.5)),
    **unary("leaky_relu", F.leaky_relu, negative_slope=one_of(0.01, 0.2)),
    **unary("gelu", lambda x, kind: F.gelu(x, approximate=kind), approximate=one_of("none", "tanh")),
    "floor": lambda d: (lambda x: (x.floor(), [x], {}))(d.any()),
    "ceil": lambda d: (lambda x: (x.ceil(), [x], {}))(d.any()),
    "trunc": lambda d: (lambda x: (x.trunc(), [x], {}))(d.any()),
    "round": lambda d: (lambda x: (x.round(), [x], {}))((d.any() * 2).round() / 2),
    "add": integer(torch.add), "sub": integer(torch.sub), "mul": integer(torch.mul),
    "minimum": integer(torch.minimum), "maximum": integer(torch.maximum), "neg": integer(torch.neg, 1),
    "bitwise_and": integer(torch.bitwise_and), "bitwise_or": integer(torch.bitwise_or),
    "bitwise_xor": integer(torch.bitwise_xor), "bitwise_not": integer(torch.bitwise_not, 1),
    "lt": integer(torch.lt), "ge": integer(torch.ge), "eq": integer(torch.eq),
    "cumsum": cumsum, "nonzero": nonzero, "triu": triangle(torch.triu), "tril": triangle(torch.tril),
    **with_gradient("swiglu", swiglu), "norm": norm, "rope": rope, "scatter": scatter, "rms_norm": rms_norm, "group_norm": group_norm,
    "scaled_dot_product_attention": attention, **convolution(1), **convolution(2), **convolution(3),
    **upsample_bilinear2d(), **grid_sample(),
}


def check_operator(op: str, calls: int) -> bool:
    wrong: List[str] = []
    for seed in range(calls):
        actual, inputs, attrs = CALLS[op](Draw(seed))
        actual, inputs = ([t.detach() for t in ts] for ts in (actual if isinstance(actual, list) else [actual], inputs))
        try:
            opbench_torch.assert_close(actual, op=op, inputs=inputs, **attrs)
        except (AssertionError, ValueError) as error:
            wrong.append(f"call {seed}: {error}")
    print(f"{op:32} {calls} calls, {'all equal within the bound' if not wrong else f'{len(wrong)} NOT'}", flush=True)
    for reason in wrong[:1]:
        print("    " + reason.replace("\n", "\n    "))
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("operators", nargs="*", help="all if none is named")
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    results = [check_operator(op, options.calls) for op in options.operators or CALLS]
    print(f"{sum(results)} of {len(results)} operators equal PyTorch")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
