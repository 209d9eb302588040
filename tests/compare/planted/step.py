"""A training step of a small ResNet, operator by operator, in the arithmetic of a device, with a fault in one of them.

Every operator leaves what it got and gave, under the names of Ascend's PyTorch dumper (adapted PyTorch 1.5): the
outermost call in the forward pass (batch_norm, not native_batch_norm), the autograd node with what it has saved in the
backward one. The dumper's blacklist leaves out nll_loss and MaxPool2DWithIndicesBackward. Arithmetic is numpy's:
products in fp32 with the operands as the device's matrix unit takes them, everything else in fp32, rounded to the
storage dtype. Parameters of norms, their gradients and statistics stay in fp32.
"""

import dataclasses

import numpy as np

from records import Record, Scalar, ScalarType
from windows import columns, image, max_pool_gradient

MOMENTUM, EPS = 0.1, 1e-5


@dataclasses.dataclass(frozen=True)
class Device:
    """`order` reverses the order of sums, which is how two devices of one precision differ."""

    name: str
    operands: type = np.float32   # dtype of the matrix unit's operands
    storage: type = np.float32    # dtype of stored activations and their gradients
    order: int = 1                # 1 or -1
    is_npu: bool = False


GPU = Device("gpu")
GPU_AMP = Device("gpu amp", operands=np.float16, storage=np.float16)
PAIRS = {
    "fp32": (Device("npu", order=-1, is_npu=True), GPU),
    "fp16-cube": (Device("npu", operands=np.float16, order=-1, is_npu=True), GPU),
    "amp": (Device("npu", operands=np.float16, storage=np.float16, order=-1, is_npu=True), GPU_AMP),
}


class Step:
    """Runs on one device and collects records. `fault` (operator index, function of its outputs) changes the outputs of
    one operator before another operator reads them."""

    def __init__(self, device, fault=None):
        self.device, self.fault = device, fault
        self.records = []

    def emit(self, op, inputs, outputs):
        if self.fault is not None and self.fault[0] == len(self.records):
            faulty = self.fault[1](dict(outputs))
            outputs = {name: faulty[name].astype(value.dtype) for name, value in outputs.items()}
        self.records.append(Record(op, len(self.records), dict(inputs), outputs))
        return list(outputs.values())

    def emit_backward(self, op, grad, saved, *gradients):
        """A gradient that is not requested is missing: its place in the list stays empty."""
        names = [f"grad_inputs/grad_inputs_{i}" for i in range(len(gradients))]
        given = {name: value for name, value in zip(names, gradients) if value is not None}
        outputs = dict(zip(given, self.emit(op, {"grads/grads_0": grad, **saved}, given)))
        return [outputs.get(name) for name in names]

    def stored(self, value):
        return np.asarray(value).astype(self.device.storage)

    # The product of the matrix unit: a @ b, with rounded operands and the terms summed in the device's order.
    def product(self, a, b):
        a = a.astype(self.device.operands).astype(np.float32)
        b = b.astype(self.device.operands).astype(np.float32)
        if self.device.order < 0:
            a, b = np.ascontiguousarray(a[:, ::-1]), np.ascontiguousarray(b[::-1])
        # Two halves, so that the order has an effect in every library.
        half = a.shape[1] // 2
        return a[:, :half] @ b[:half] + a[:, half:] @ b[half:]

    def total(self, x, axis):
        x = np.flip(x, axis) if self.device.order < 0 else x
        return np.add.reduce(x, axis, dtype=np.float32)

    # Forward operators.
    def conv(self, x, w, stride, pad):
        n, _, h, width = x.shape
        out_h, out_w = (h + 2 * pad - w.shape[2]) // stride + 1, (width + 2 * pad - w.shape[3]) // stride + 1
        y = self.product(columns(x, w.shape, stride, pad), w.reshape(w.shape[0], -1).T)
        y = y.reshape(n, out_h, out_w, w.shape[0]).transpose(0, 3, 1, 2)
        return self.emit("conv2d", {"input": x, "weight": w, "stride": (stride, stride), "padding": (pad, pad),
                                    "dilation": (1, 1), "groups": 1},
                         {"result": self.stored(np.ascontiguousarray(y))})[0]

    def batch_norm(self, x, norm):
        """The result, the mean, and the second tensor that the device saves for the backward pass."""
        count = np.float32(x.size // x.shape[1])
        mean = self.total(self.total(self.total(x, 3), 2), 0) / count
        centred = x - mean[:, None, None]
        variance = self.total(self.total(self.total(centred * centred, 3), 2), 0) / count
        invstd = inverse_deviation(variance)
        if self.device.order < 0:  # folded into one multiply-add, as on devices
            scale = norm.gamma * invstd
            y = x * scale[:, None, None] + (norm.beta - mean * scale)[:, None, None]
        else:
            y = centred * invstd[:, None, None] * norm.gamma[:, None, None] + norm.beta[:, None, None]
        y = self.emit("batch_norm", {"input": x, "weight": norm.gamma, "bias": norm.beta,
                                     "running_mean": norm.running_mean, "running_var": norm.running_var,
                                     "training": True, "momentum": MOMENTUM, "eps": EPS, "cudnn_enabled": True},
                      {"result": self.stored(y)})[0]
        unbiased = variance * count / (count - 1)
        norm.running_mean = np.float32(1 - MOMENTUM) * norm.running_mean + np.float32(MOMENTUM) * mean
        norm.running_var = np.float32(1 - MOMENTUM) * norm.running_var + np.float32(MOMENTUM) * unbiased
        return y, mean, variance if self.device.is_npu else invstd

    def relu(self, x):
        return self.emit("relu", {"self": x}, {"result": np.maximum(x, 0)})[0]

    def add(self, x, y):
        return self.emit("add_Tensor", {"self": x, "other": y, "alpha": Scalar(1)}, {"result": self.stored(x + y)})[0]

    def max_pool(self, x):
        windows = x.reshape(*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2)
        return self.emit("max_pool2d", {"self": x, "kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0),
                                        "dilation": (1, 1), "ceil_mode": False},
                         {"result": windows.max((3, 5))})[0]

    def mean(self, x):
        y = self.total(self.total(x, 3), 2) / np.float32(x.shape[2] * x.shape[3])
        return self.emit("mean_dim", {"self": x, "dim": (2, 3), "keepdim": False}, {"result": self.stored(y)})[0]

    def linear(self, x, w, b):
        return self.emit("addmm", {"self": b, "mat1": x, "mat2": w, "beta": Scalar(1), "alpha": Scalar(1)},
                         {"result": self.stored(self.product(x, w) + b)})[0]

    def log_softmax(self, x):
        wide = x.astype(np.float32)
        shifted = wide - wide.max(1, keepdims=True)
        y = shifted - np.log(self.total(np.exp(shifted), 1))[:, None]
        return self.emit("log_softmax_int", {"self": x, "dim": 1}, {"result": self.stored(y)})[0]

    # Backward operators.
    def nll_loss_backward(self, x, target, scale):
        g = np.zeros_like(x)
        g[np.arange(len(target)), target] = -np.float32(scale) / np.float32(len(target))
        saved = {"self": x, "target": target, "reduction": 1, "ignore_index": -100,
                 "total_weight": self.stored(len(target))}
        return self.emit_backward("NllLossBackward", self.stored(scale), saved, g)[0]

    def log_softmax_backward(self, g, x, y):
        gradient = g - np.exp(y.astype(np.float32)) * self.total(g, 1)[:, None]
        return self.emit_backward("LogSoftmaxBackward", g, {"self": x, "dim": 1, "result": y},
                                  self.stored(gradient))[0]

    def linear_backward(self, g, x, w):
        saved = {"mat1": x, "mat2": w, "alpha": Scalar(1), "mat2_sizes": w.shape, "beta": Scalar(1)}
        return self.emit_backward("AddmmBackward", g, saved, self.stored(self.total(g, 0)),
                                  self.stored(self.product(g, w.T)), self.stored(self.product(x.T, g)))

    def mean_backward(self, g, shape):
        y = np.broadcast_to(g[:, :, None, None] / np.float32(shape[2] * shape[3]), shape)
        saved = {"self_sizes": shape, "self_scalar_type": ScalarType(g.dtype), "dim": (2, 3), "keepdim": False}
        return self.emit_backward("MeanBackward1", g, saved, self.stored(np.ascontiguousarray(y)))[0]

    def relu_backward(self, g, y):
        return self.emit_backward("ReluBackward0", g, {"result": y}, g * (y > 0))[0]

    def add_backward(self, g):
        return self.emit_backward("AddBackward0", g, {"alpha": Scalar(1)}, g, g)

    def batch_norm_backward(self, g, x, norm):
        count = np.float32(x.size // x.shape[1])
        invstd = inverse_deviation(norm.saved) if self.device.is_npu else norm.saved
        normalised = (x - norm.mean[:, None, None]) * invstd[:, None, None]
        dbeta = self.total(self.total(self.total(g, 3), 2), 0)
        dgamma = self.total(self.total(self.total(g * normalised, 3), 2), 0)
        scale = (norm.gamma * invstd)[:, None, None]
        if self.device.order < 0:
            dx = scale * g - (scale / count) * (dbeta[:, None, None] + normalised * dgamma[:, None, None])
        else:
            dx = scale * (g - dbeta[:, None, None] / count - normalised * (dgamma[:, None, None] / count))
        saved = {"input": x, "weight": norm.gamma, "running_mean": norm.running_mean, "running_var": norm.running_var,
                 "training": True, "eps" if self.device.is_npu else "epsilon": EPS, "result1": norm.mean,
                 "result2": norm.saved}
        if self.device.is_npu:
            return self.emit_backward("NativeBatchNormBackward", g, saved, self.stored(dx), dgamma, dbeta)
        saved["result3"] = np.zeros(0, np.uint8)  # cuDNN's reserve
        return self.emit_backward("CudnnBatchNormBackward", g, saved, self.stored(dx), dgamma, dbeta)

    def conv_backward(self, g, x, w, stride, pad, wants_input):
        flat = np.ascontiguousarray(g.transpose(0, 2, 3, 1)).reshape(-1, w.shape[0])
        dw = self.stored(self.product(flat.T, columns(x, w.shape, stride, pad)).reshape(w.shape))
        dx = None
        if wants_input:
            dx = self.stored(image(self.product(flat, w.reshape(w.shape[0], -1)), x.shape, w.shape, stride, pad))
        rest = {"padding": (pad, pad), "stride": (stride, stride), "dilation": (1, 1), "groups": 1}
        if self.device.is_npu:
            return self.emit_backward("NpuConvolutionBackward", g, {"input": x, "weight": w, **rest}, dx, dw, None)
        saved = {"self": x, "weight": w, **rest, "benchmark": False, "deterministic": False}
        return self.emit_backward("CudnnConvolutionBackward", g, saved, dx, dw)


def inverse_deviation(variance):
    return (1 / np.sqrt(variance + np.float32(EPS))).astype(np.float32)


class ConvNorm:
    def __init__(self, step, random, c_in, c_out, kernel, stride):
        fan = c_in * kernel * kernel
        self.w = step.stored(random.standard_normal((c_out, c_in, kernel, kernel)) * np.sqrt(2 / fan))
        self.gamma = (1 + 0.1 * random.standard_normal(c_out)).astype(np.float32)
        self.beta = (0.1 * random.standard_normal(c_out)).astype(np.float32)
        self.running_mean, self.running_var = np.zeros(c_out, np.float32), np.ones(c_out, np.float32)
        self.stride, self.pad = stride, kernel // 2

    def forward(self, step, x):
        self.x = x
        self.y = step.conv(x, self.w, self.stride, self.pad)
        z, self.mean, self.saved = step.batch_norm(self.y, self)
        return z

    def backward(self, step, g, wants_input=True):
        g = step.batch_norm_backward(g, self.y, self)[0]
        return step.conv_backward(g, self.x, self.w, self.stride, self.pad, wants_input)[0]


class Block:
    """A bottleneck: 1x1, 3x3, 1x1, and a projection where the shape changes."""

    def __init__(self, step, random, c_in, width, stride):
        self.parts = [ConvNorm(step, random, c_in, width, 1, 1), ConvNorm(step, random, width, width, 3, stride),
                      ConvNorm(step, random, width, 4 * width, 1, 1)]
        self.shortcut = ConvNorm(step, random, c_in, 4 * width, 1, stride) if c_in != 4 * width else None

    def forward(self, step, x):
        y, self.acts = x, []
        for part in self.parts[:2]:
            y = step.relu(part.forward(step, y))
            self.acts.append(y)
        y = self.parts[2].forward(step, y)
        side = self.shortcut.forward(step, x) if self.shortcut else x
        self.out = step.relu(step.add(y, side))
        return self.out

    def backward(self, step, g):
        g, side = step.add_backward(step.relu_backward(g, self.out))
        g = self.parts[2].backward(step, g)
        for part, act in zip(self.parts[1::-1], self.acts[::-1]):
            g = part.backward(step, step.relu_backward(g, act))
        side = self.shortcut.backward(step, side) if self.shortcut else side
        return step.add(g, side)


def run(device, fault=None, blocks=(1, 1), width=8, size=16, batch=4, classes=10, seed=1):
    """The records of one step. A stem, stages of bottlenecks, a classifier; loss and gradients."""
    random = np.random.default_rng(seed)
    step = Step(device, fault)
    x = step.stored(random.standard_normal((batch, 3, size, size)))
    stem = ConvNorm(step, random, 3, width, 3, 1)
    stages, c = [], width
    for s, count in enumerate(blocks):
        for b in range(count):
            stages.append(Block(step, random, c, width << s, 2 if s > 0 and b == 0 else 1))
            c = 4 * (width << s)
    w = step.stored(random.standard_normal((c, classes)) / np.sqrt(c))
    bias = step.stored(0.1 * random.standard_normal(classes))
    target = random.integers(0, classes, batch)
    scale = 1024 if device.storage == np.float16 else 1

    act = step.relu(stem.forward(step, x))
    pooled = step.max_pool(act)
    y = pooled
    for block in stages:
        y = block.forward(step, y)
    features = step.mean(y)
    logits = step.linear(features, w, bias)
    logs = step.log_softmax(logits)
    g = step.log_softmax_backward(step.nll_loss_backward(logs, target, scale), logits, logs)
    g = step.linear_backward(g, features, w)[1]
    g = step.mean_backward(g, y.shape)
    for block in stages[::-1]:
        g = block.backward(step, g)
    g = step.relu_backward(max_pool_gradient(g, act, pooled), act)
    stem.backward(step, g, wants_input=False)
    return step.records
