"""A training step of a small ResNet, operator by operator, in the arithmetic of a device, with a fault in one of them.

Every operator leaves what it got and gave, as Ascend's PyTorch dumper does. Arithmetic is numpy's: products in fp32
with the operands as the device's matrix unit takes them, everything else in fp32, rounded to the storage dtype.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Device:
    """`order` reverses the order of sums, which is how two devices of one precision differ."""

    name: str
    operands: type = np.float32   # what the matrix unit takes
    storage: type = np.float32    # what activations and their gradients are kept in
    order: int = 1                # 1 or -1
    is_npu: bool = False


GPU = Device("gpu")
GPU_AMP = Device("gpu amp", operands=np.float16, storage=np.float16)
PAIRS = {
    "fp32": (Device("npu", order=-1, is_npu=True), GPU),
    "fp16-cube": (Device("npu", operands=np.float16, order=-1, is_npu=True), GPU),
    "amp": (Device("npu", operands=np.float16, storage=np.float16, order=-1, is_npu=True), GPU_AMP),
}


@dataclasses.dataclass
class Record:
    op: str
    seq: int
    inputs: dict
    outputs: dict


class Step:
    """Runs on one device and collects records. `fault` (operator index, function of its outputs) changes what one
    operator gives before anything else sees it."""

    def __init__(self, device, fault=None):
        self.device, self.fault = device, fault
        self.records = []
        self.counts = {}

    def emit(self, op, inputs, outputs):
        outputs = {name: self.stored(value) for name, value in outputs.items()}
        if self.fault is not None and self.fault[0] == len(self.records):
            outputs = {name: self.stored(value) for name, value in self.fault[1](dict(outputs)).items()}
        self.records.append(Record(op, len(self.records), dict(inputs), outputs))
        return list(outputs.values())

    def stored(self, value):
        if value.dtype.kind != "f" or value.ndim == 0:
            return value
        return value.astype(self.device.storage).astype(np.float32)

    # What the matrix unit computes: a @ b, with its operands rounded and the terms summed in the device's order.
    def product(self, a, b):
        a = a.astype(self.device.operands).astype(np.float32)
        b = b.astype(self.device.operands).astype(np.float32)
        if self.device.order < 0:
            a, b = np.ascontiguousarray(a[:, ::-1]), np.ascontiguousarray(b[::-1])
        # In two halves, so that the order matters whatever the library does.
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
        return self.emit("conv2d", {"input": x, "weight": w}, {"result": np.ascontiguousarray(y)})[0]

    def batch_norm(self, x, gamma, beta):
        count = np.float32(x.size // x.shape[1])
        mean = self.total(self.total(self.total(x, 3), 2), 0) / count
        centred = x - mean[:, None, None]
        variance = self.total(self.total(self.total(centred * centred, 3), 2), 0) / count
        invstd = (1 / np.sqrt(variance + np.float32(1e-5))).astype(np.float32)
        if self.device.order < 0:  # folded into one multiply-add, as devices do
            scale = gamma * invstd
            y = x * scale[:, None, None] + (beta - mean * scale)[:, None, None]
        else:
            y = centred * invstd[:, None, None] * gamma[:, None, None] + beta[:, None, None]
        y = self.emit("native_batch_norm", {"input": x, "weight": gamma, "bias": beta},
                      {"result0": y, "result1": mean, "result2": invstd})
        return y

    def relu(self, x):
        return self.emit("relu", {"self": x}, {"result": np.maximum(x, 0)})[0]

    def add(self, x, y):
        return self.emit("add_Tensor", {"self": x, "other": y}, {"result": x + y})[0]

    def max_pool(self, x):
        windows = x.reshape(*x.shape[:2], x.shape[2] // 2, 2, x.shape[3] // 2, 2)
        return self.emit("max_pool2d", {"self": x}, {"result": windows.max((3, 5))})[0]

    def mean(self, x):
        y = self.total(self.total(x, 3), 2) / np.float32(x.shape[2] * x.shape[3])
        return self.emit("mean_dim", {"self": x}, {"result": y})[0]

    def linear(self, x, w, b):
        return self.emit("addmm", {"self": b, "mat1": x, "mat2": w}, {"result": self.product(x, w) + b})[0]

    def log_softmax(self, x):
        shifted = x - x.max(1, keepdims=True)
        y = shifted - np.log(self.total(np.exp(shifted), 1))[:, None]
        return self.emit("log_softmax", {"self": x}, {"result": y})[0]

    def nll_loss(self, x, target):
        loss = -self.total(x[np.arange(len(target)), target], 0) / np.float32(len(target))
        return self.emit("nll_loss", {"self": x, "target": target}, {"result": np.float32(loss)})[0]

    # Backward operators.
    def nll_loss_backward(self, x, target, scale):
        g = np.zeros_like(x)
        g[np.arange(len(target)), target] = -np.float32(scale) / np.float32(len(target))
        return self.emit("NllLossBackward", {"self": x, "target": target}, {"result": g})[0]

    def log_softmax_backward(self, g, y):
        return self.emit("LogSoftmaxBackward", {"grad": g, "result": y},
                         {"result": g - np.exp(y) * self.total(g, 1)[:, None]})[0]

    def linear_backward(self, g, x, w):
        return self.emit("AddmmBackward", {"grad": g, "mat1": x, "mat2": w},
                         {"result0": self.total(g, 0), "result1": self.product(g, w.T),
                          "result2": self.product(x.T, g)})

    def mean_backward(self, g, shape):
        y = np.broadcast_to(g[:, :, None, None] / np.float32(shape[2] * shape[3]), shape)
        return self.emit("MeanBackward1", {"grad": g}, {"result": np.ascontiguousarray(y)})[0]

    def relu_backward(self, g, y):
        return self.emit("ReluBackward0", {"grad": g, "result": y}, {"result": g * (y > 0)})[0]

    def add_backward(self, g):
        return self.emit("AddBackward0", {"grad": g}, {"result0": g, "result1": g})

    def join(self, a, b):
        return self.emit("add_Tensor", {"self": a, "other": b}, {"result": a + b})[0]

    def batch_norm_backward(self, g, x, gamma, mean, invstd):
        count = np.float32(x.size // x.shape[1])
        norm = (x - mean[:, None, None]) * invstd[:, None, None]
        dbeta = self.total(self.total(self.total(g, 3), 2), 0)
        dgamma = self.total(self.total(self.total(g * norm, 3), 2), 0)
        scale = (gamma * invstd)[:, None, None]
        if self.device.order < 0:
            dx = scale * g - (scale / count) * (dbeta[:, None, None] + norm * dgamma[:, None, None])
        else:
            dx = scale * (g - dbeta[:, None, None] / count - norm * (dgamma[:, None, None] / count))
        name = "NativeBatchNormBackward" if self.device.is_npu else "CudnnBatchNormBackward"
        return self.emit(name, {"grad": g, "input": x, "weight": gamma, "result1": mean, "result2": invstd},
                         {"result0": dx, "result1": dgamma, "result2": dbeta})

    def conv_backward(self, g, x, w, stride, pad):
        flat = np.ascontiguousarray(g.transpose(0, 2, 3, 1)).reshape(-1, w.shape[0])
        dw = self.product(flat.T, columns(x, w.shape, stride, pad)).reshape(w.shape)
        dx = image(self.product(flat, w.reshape(w.shape[0], -1)), x.shape, w.shape, stride, pad)
        name = "NpuConvolutionBackward" if self.device.is_npu else "CudnnConvolutionBackward"
        return self.emit(name, {"grad": g, "self": x, "weight": w}, {"result0": dx, "result1": dw})

    def max_pool_backward(self, g, x, y):
        spread = np.repeat(np.repeat(g, 2, 2), 2, 3)
        at = x == np.repeat(np.repeat(y, 2, 2), 2, 3)
        return self.emit("MaxPool2DBackward", {"grad": g, "self": x, "result": y}, {"result": spread * at})[0]


def columns(x, w_shape, stride, pad):
    """im2col: a row for each output position."""
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w_shape[2:], (2, 3))[:, :, ::stride, ::stride]
    return np.ascontiguousarray(windows.transpose(0, 2, 3, 1, 4, 5)).reshape(-1, w_shape[1] * w_shape[2] * w_shape[3])


def image(cols, x_shape, w_shape, stride, pad):
    """col2im: the adjoint of `columns`."""
    n, c, h, w = x_shape
    padded = np.zeros((n, c, h + 2 * pad, w + 2 * pad), np.float32)
    out_h, out_w = (h + 2 * pad - w_shape[2]) // stride + 1, (w + 2 * pad - w_shape[3]) // stride + 1
    cols = cols.reshape(n, out_h, out_w, c, w_shape[2], w_shape[3]).transpose(0, 3, 1, 2, 4, 5)
    for i in range(w_shape[2]):
        for j in range(w_shape[3]):
            padded[:, :, i:i + stride * out_h:stride, j:j + stride * out_w:stride] += cols[..., i, j]
    return padded[:, :, pad:pad + h, pad:pad + w]


class ConvNorm:
    def __init__(self, random, c_in, c_out, kernel, stride):
        fan = c_in * kernel * kernel
        self.w = (random.standard_normal((c_out, c_in, kernel, kernel)) * np.sqrt(2 / fan)).astype(np.float32)
        self.gamma = (1 + 0.1 * random.standard_normal(c_out)).astype(np.float32)
        self.beta = (0.1 * random.standard_normal(c_out)).astype(np.float32)
        self.stride, self.pad = stride, kernel // 2

    def forward(self, step, x):
        self.x = x
        self.y = step.conv(x, self.w, self.stride, self.pad)
        z, self.mean, self.invstd = step.batch_norm(self.y, self.gamma, self.beta)
        return z

    def backward(self, step, g):
        g = step.batch_norm_backward(g, self.y, self.gamma, self.mean, self.invstd)[0]
        return step.conv_backward(g, self.x, self.w, self.stride, self.pad)[0]


class Block:
    """A bottleneck: 1x1, 3x3, 1x1, and a projection where the shape changes."""

    def __init__(self, random, c_in, width, stride):
        self.parts = [ConvNorm(random, c_in, width, 1, 1), ConvNorm(random, width, width, 3, stride),
                      ConvNorm(random, width, 4 * width, 1, 1)]
        self.shortcut = ConvNorm(random, c_in, 4 * width, 1, stride) if c_in != 4 * width else None

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
        return step.join(g, side)


def run(device, fault=None, blocks=(1, 1), width=8, size=16, batch=4, classes=10, seed=1):
    """The records of one step. A stem, stages of bottlenecks, a classifier; loss and gradients."""
    random = np.random.default_rng(seed)
    step = Step(device, fault)
    x = step.stored(random.standard_normal((batch, 3, size, size)).astype(np.float32))
    stem = ConvNorm(random, 3, width, 3, 1)
    stages, c = [], width
    for s, count in enumerate(blocks):
        for b in range(count):
            stages.append(Block(random, c, width << s, 2 if s > 0 and b == 0 else 1))
            c = 4 * (width << s)
    w = (random.standard_normal((c, classes)) / np.sqrt(c)).astype(np.float32)
    bias = (0.1 * random.standard_normal(classes)).astype(np.float32)
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
    step.nll_loss(logs, target)
    g = step.log_softmax_backward(step.nll_loss_backward(logs, target, scale), logs)
    g = step.linear_backward(g, features, w)[1]
    g = step.mean_backward(g, y.shape)
    for block in stages[::-1]:
        g = block.backward(step, g)
    g = step.relu_backward(step.max_pool_backward(g, act, pooled), act)
    stem.backward(step, g)
    return step.records
