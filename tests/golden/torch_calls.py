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


def bags(draw: Draw, mode: str) -> Tuple[Tensor, List[Tensor], Dict[str, Any]]:
    """embedding_bag of random bags, some empty; the gradients need its inputs."""
    rows, count, has_end = draw.random.randint(2, 6), draw.random.randint(0, 12), draw.random.random() < 0.5
    starts = sorted(draw.random.randint(0, count) for _ in range(draw.random.randint(0, 4)))
    offsets = torch.tensor([0] + starts + [count] * has_end)
    padding = draw.random.choice([-1, 0, 1])
    inputs = [draw.tensor([rows, 3]).requires_grad_(), draw.integers([count], 0, rows - 1), offsets]
    if mode == "sum" and draw.random.random() < 0.5:
        inputs.append(draw.tensor([count]).requires_grad_())
    y = F.embedding_bag(inputs[1], inputs[0], offsets, mode=mode, include_last_offset=has_end,
                        per_sample_weights=inputs[3] if len(inputs) > 3 else None,
                        padding_idx=None if padding < 0 else padding)
    return y, inputs, {"mode": mode, "padding_idx": padding, "include_last_offset": has_end}


def bag_gradient(draw: Draw) -> Call:
    y, inputs, attrs = bags(draw, draw.random.choice(["sum", "mean", "max"]))
    dy = draw.tensor(y.shape)
    extra = inputs[3:] if attrs["mode"] != "max" else inputs[:1]
    attrs["num_weights"] = len(inputs[0])
    return torch.autograd.grad(y, inputs[0], dy)[0], [dy, *inputs[1:3], *extra], attrs


def bag_weights_gradient(draw: Draw) -> Call:
    while True:
        y, inputs, attrs = bags(draw, "sum")
        if len(inputs) > 3:
            break
    dy = draw.tensor(y.shape)
    return torch.autograd.grad(y, inputs[3], dy)[0], [dy, *inputs[:3]], attrs


def repeat_interleave(draw: Draw) -> Call:
    x = draw.any().requires_grad_()
    axis = draw.random.randrange(x.dim())
    repeats = draw.integers([x.shape[axis]], 0, 3)
    y = x.repeat_interleave(repeats, axis)
    return y, [x, repeats], {"axis": axis, "output_size": y.shape[axis]}


def repeat_interleave_gradient(draw: Draw) -> Call:
    y, (x, repeats), attrs = repeat_interleave(draw)
    dy = draw.tensor(y.shape)
    return torch.autograd.grad(y, x, dy)[0], [dy, repeats], {"axis": attrs["axis"], "input_size": x.shape[attrs["axis"]]}


def gate(draw: Draw) -> Call:
    """The gradient of the shares of chosen experts, as autograd computes it."""
    tokens, experts, shares = draw.random.randint(1, 4), draw.random.randint(2, 9), draw.random.choice(
        ["softmax", "chosen", "sigmoid"])
    k, factor = draw.random.randint(1, experts), draw.random.choice([1.0, 2.5])
    x = draw.tensor([tokens, experts]).requires_grad_()
    scores = x.sigmoid() if shares == "sigmoid" else x if shares == "chosen" else x.softmax(-1)
    y, chosen = scores.topk(k)
    y = y.softmax(-1) if shares == "chosen" else y / y.sum(-1, keepdim=True) if shares == "sigmoid" else y
    dy = draw.tensor(y.shape)
    return torch.autograd.grad(y * factor, x, dy)[0], [dy, x, chosen], {"shares": shares, "factor": factor}


def boxes(draw: Draw, count: int, extent: float) -> Tensor:
    corners = torch.rand(count, 2, dtype=torch.float64) * extent
    return torch.cat((corners, corners + torch.rand(count, 2, dtype=torch.float64) * extent / 2), 1).float().double()


def roi_align(draw: Draw) -> Call:
    from torchvision.ops import roi_align as of  # it may be absent
    n, c, h, w = (draw.random.randint(1, m) for m in (2, 3, 9, 9))
    count = draw.random.randint(0, 4)
    images = draw.integers([count, 1], 0, n - 1).double()
    scale = draw.random.choice([1.0, 0.5, 0.25])
    rois = torch.cat((images, boxes(draw, count, 12 / scale) - 2), 1).float()
    attrs = {"pooled_height": draw.random.randint(1, 4), "pooled_width": draw.random.randint(1, 4), "spatial_scale": scale,
             "sampling_ratio": draw.random.choice([-1, 0, 1, 2, 3]), "aligned": draw.random.random() < 0.5}
    x = draw.tensor([n, c, h, w]).requires_grad_()
    y = of(x, rois.double(), (attrs["pooled_height"], attrs["pooled_width"]), scale, attrs["sampling_ratio"],
           attrs["aligned"])
    return y, [x, rois], attrs


def roi_align_gradient(draw: Draw) -> Call:
    y, (x, rois), attrs = roi_align(draw)
    dy = draw.tensor(y.shape)
    return torch.autograd.grad(y, x, dy)[0], [dy, rois], {**attrs, "input_size": list(x.shape)}


def nms(draw: Draw) -> Call:
    from torchvision.ops import nms as of
    all_boxes, scores = boxes(draw, draw.random.randint(1, 40), 20), draw.integers([40], 0, 15).double() / 16
    threshold = draw.random.choice([0.0, 0.1, 0.5, 0.75])
    keep = of(all_boxes, scores[:len(all_boxes)], threshold)
    return keep, [all_boxes, scores[:len(all_boxes)]], {"iou_threshold": threshold, "rows": len(keep)}
def lamb(draw: Draw) -> Call:
    """apex's FusedLAMB for one tensor, as a formula."""
    p = draw.any()
    g, m, v = draw.tensor(p.shape), draw.tensor(p.shape), draw.tensor(p.shape) ** 2
    attrs = {"lr": 0.125, "beta1": 0.875, "beta2": 0.96875, "eps": 2.0**-20, "weight_decay": draw.random.choice([0.0, 0.25]),
             "step": draw.random.randint(1, 9), "use_nvlamb": draw.random.choice([False, True]), "grad_scale": 2.0}
    g_scaled = g / attrs["grad_scale"]
    m_out, v_out = m.lerp(g_scaled, 1 - attrs["beta1"]), v * attrs["beta2"] + g_scaled**2 * (1 - attrs["beta2"])
    corrections = 1 - attrs["beta1"] ** attrs["step"], 1 - attrs["beta2"] ** attrs["step"]
    u = m_out / corrections[0] / ((v_out / corrections[1]).sqrt() + attrs["eps"]) + attrs["weight_decay"] * p
    ratio = p.norm() / u.norm() if attrs["weight_decay"] != 0 or attrs["use_nvlamb"] else 1
    return [p - attrs["lr"] * ratio * u, m_out, v_out], [p, g, m, v], attrs


def recurrent(op: str, gradient: bool) -> Callable[[Draw], Call]:
    """A layer or a cell, in one direction; the gradients of all inputs."""

    def compute(draw: Draw) -> Call:
        steps, batch, features, hidden = (draw.random.randint(1, 6) for _ in range(4))
        is_cell, is_lstm = op.endswith("_cell"), op.startswith("lstm")
        width = (4 if is_lstm else 3) * hidden
        x = draw.tensor([batch, features] if is_cell else [steps, batch, features])
        weights = [draw.tensor(shape) for shape in ([width, features], [width, hidden], [width], [width])]
        states = [draw.tensor([batch, hidden] if is_cell else [1, batch, hidden]) for _ in range(1 + is_lstm)]
        inputs = [x, *states, *weights] if is_cell else [x, *weights, *states]
        for tensor in inputs:
            tensor.requires_grad_()
        hx, attrs = (states if is_lstm else states[0]), {}
        if is_cell:
            results = getattr(torch, op)(x, hx, *weights)
        else:
            attrs = {"batch_first": draw.random.choice([False, True])}
            given = x.transpose(0, 1) if attrs["batch_first"] else x
            results = getattr(torch, op)(given, hx, weights, True, 1, 0.0, False, False, attrs["batch_first"])
            inputs[0] = given
        results = list(results) if isinstance(results, tuple) else [results]
        if not gradient:
            return results, inputs, attrs
        dy = [draw.tensor(result.shape) for result in results]
        return list(torch.autograd.grad(results, inputs, dy)), [*dy, *inputs], attrs

    return compute


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


def fused_cell(op: str, gradient: bool) -> Callable[[Draw], Call]:
    """A cell that is given the products with its weights."""

    def compute(draw: Draw) -> Call:
        batch, hidden = (draw.random.randint(1, 6) for _ in range(2))
        is_lstm = op.startswith("lstm")
        width = (4 if is_lstm else 3) * hidden
        x, h, b_ih, b_hh = (draw.tensor(shape) for shape in ([batch, width], [batch, width], [width], [width]))
        state = draw.tensor([batch, hidden])
        inputs = [x, h, state, b_ih, b_hh]
        for tensor in inputs:
            tensor.requires_grad_()
        if is_lstm:
            i, f, g, o = (x + b_ih + h + b_hh).chunk(4, 1)
            c = f.sigmoid() * state + i.sigmoid() * g.tanh()
            results = [o.sigmoid() * c.tanh(), c]
        else:
            (x_r, x_z, x_n), (h_r, h_z, h_n) = (x + b_ih).chunk(3, 1), (h + b_hh).chunk(3, 1)
            n = (x_n + (x_r + h_r).sigmoid() * h_n).tanh()
            z = (x_z + h_z).sigmoid()
            results = [(1 - z) * n + z * state]
        if not gradient:
            return results, inputs, {}
        dy = [draw.tensor(result.shape) for result in results]
        return list(torch.autograd.grad(results, inputs, dy)), [*dy, *inputs], {}

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
    **unary("celu", F.celu, alpha=one_of(1.0, 0.5, 2.0)), **unary("log_sigmoid", F.logsigmoid),
    "hardshrink": lambda d: unary("", F.hardshrink, lambd=one_of(0.5, 1.0))[""](d),
    "softshrink": lambda d: unary("", F.softshrink, lambd=one_of(0.5, 1.0))[""](d),
    "shrink_grad": lambda d: unary("", d.random.choice([F.hardshrink, F.softshrink]), lambd=one_of(0.5, 1.0))["_grad"](d),
    "threshold": lambda d: unary("", F.threshold, threshold=one_of(0.5, -1.0), value=one_of(0.0, 20.0))[""](d),
    "threshold_grad": lambda d: (lambda call: (call[0], call[1], {"threshold": 0.5}))(
        unary("", lambda x: F.threshold(x, 0.5, 20.0))["_grad"](d)),
    "elu_result_grad": lambda d: (lambda x, dy: (torch.autograd.grad(F.elu(x, 0.5), x, dy)[0],
                                                 [dy, F.elu(x, 0.5)], {"alpha": 0.5}))(
        *(lambda x: (x.requires_grad_(), d.tensor(x.shape)))(d.any())),
    "embedding_bag": lambda d: bags(d, d.random.choice(["sum", "mean", "max"])), "embedding_bag_grad": bag_gradient,
    "embedding_bag_weights_grad": bag_weights_gradient, "moe_gating_grad": gate, "nms": nms,
    "repeat_interleave": repeat_interleave, "repeat_interleave_grad": repeat_interleave_gradient,
    "roi_align": roi_align, "roi_align_grad": roi_align_gradient,
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
    "scaled_dot_product_attention": attention, "lamb": lamb,
    **{op + "_grad" * gradient: recurrent(op, gradient)
       for op in ("lstm", "gru", "lstm_cell", "gru_cell") for gradient in (False, True)},
    **{op + "_grad" * gradient: fused_cell(op, gradient) for op in ("lstm_gates", "gru_gates") for gradient in (False, True)},
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
