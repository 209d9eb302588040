"""The cases of native.py: cases of opbench, and the same computation in PyTorch.

A torch call takes (torch, Tensors) and returns a function without arguments, or several by name, of which the fastest
counts. Inputs, outputs and views of them are created before, so that only the operator is timed. Shapes of size "large"
are those of cases/ (ShuffleNetV2, BERT, Mask R-CNN, ResNet-50), "small" ones stay in the L2 cache, "huge" ones take
seconds for each call."""
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Case:
    op: str
    size: str
    inputs: str  # "32x116x28x28,58"
    attrs: str   # "axis=1,data.index=permutation", or ""
    make: Callable
    name: str = ""
    family: str = ""
    dtypes: tuple = ()  # all that are asked for, if empty

    @property
    def label(self):
        return self.name or self.inputs + ("" if not self.attrs else "," + self.attrs.split(",data.")[0])

    def id(self, dtype):
        form = "NCHW" if self.op in NCHW_ONLY else "ND"
        attrs = [dtype, form] + ([self.attrs] if self.attrs else [])
        return f"{self.op}[{self.inputs},{','.join(attrs)}]"

    def torch_calls(self, torch, tensors):
        """Returns the computations in PyTorch by name."""
        calls = self.make(torch, tensors)
        return calls if isinstance(calls, dict) else {self.op: calls}


NCHW_ONLY = {"conv2d", "conv2d_grad_input", "conv2d_grad_weight", "global_avg_pool2d", "global_avg_pool2d_grad",
             "max_pool2d", "max_pool2d_grad"}


def spelled(*shapes):
    return ",".join("x".join(str(extent) for extent in shape) or "scalar" for shape in shapes)


def unary(name):
    def make(shape):
        def call(torch, t):
            x, y = t.normal(*shape), t.empty(*shape)
            aten = torch.ops.aten
            return {
                "relu": lambda: torch.clamp_min(x, 0, out=y),
                "silu": lambda: aten.silu.out(x, out=y),
                "gelu": lambda: aten.gelu.out(x, out=y),
                "floor": lambda: torch.floor(x, out=y),
                "fill": lambda: y.fill_(1),
                "softplus": lambda: aten.softplus.out(x, 1, 20, out=y),
                "muls": lambda: torch.mul(x, 0.125, out=y),
                "adds": lambda: torch.add(x, 0.125, out=y),
                "reshape": lambda: y.copy_(x),
            }[name]
        return call
    return make


def binary(name):
    def make(shape):
        def call(torch, t):
            a, b, y = t.normal(*shape), t.normal(*shape), t.empty(*shape)
            aten = torch.ops.aten
            return {
                "add": lambda: torch.add(a, b, out=y),
                "mul": lambda: torch.mul(a, b, out=y),
                "axpy": lambda: torch.add(a, b, alpha=0.5, out=y),
                "silu_grad": lambda: aten.silu_backward.grad_input(a, b, grad_input=y),
                "gelu_grad": lambda: aten.gelu_backward.grad_input(a, b, grad_input=y),
                "relu_grad": lambda: aten.threshold_backward.grad_input(a, b, 0, grad_input=y),
                "softplus_grad": lambda: aten.softplus_backward.grad_input(a, b, 1, 20, grad_input=y),
            }[name]
        return call
    return make


def broadcast(name):
    def make(shape, other):
        def call(torch, t):
            a, b, y = t.normal(*shape), t.normal(*other), t.empty(*torch.broadcast_shapes(shape, other))
            return {
                "add": lambda: torch.add(a, b, out=y),
                "mul": lambda: torch.mul(a, b, out=y),
                "axpy": lambda: torch.add(a, b, alpha=0.5, out=y),
            }[name]
        return call
    return make


def sum_to_size(shape, size, axes):
    def call(torch, t):
        x, y = t.normal(*shape), t.empty(*size)
        return lambda: torch.sum(x, axes, keepdim=True, out=y.view([1] * (len(shape) - len(size)) + list(size)))
    return call


def cast(source, target):
    def make(shape):
        def call(torch, t):
            types = {"fp32": torch.float32, "fp16": torch.float16, "int32": torch.int32, "int64": torch.int64}
            x = torch.randn(shape).to(types[source] if source else t.dtype)
            y = t.empty(*shape, dtype=types[target])
            return lambda: y.copy_(x)
        return call
    return make


def concat(shapes, axis):
    def call(torch, t):
        inputs = [t.normal(*shape) for shape in shapes]
        y = torch.cat(inputs, axis)
        return lambda: torch.cat(inputs, axis, out=y)
    return call


def split(shape, axis):
    def call(torch, t):
        parts = t.normal(*shape).chunk(2, axis)
        outputs = [t.empty(*part.shape) for part in parts]

        def run():
            for part, output in zip(parts, outputs):
                output.copy_(part)
        return run
    return call


def view_copy(shape, view):
    def call(torch, t):
        x = view(t.normal(*shape))
        y = x.contiguous().clone(memory_format=torch.contiguous_format)
        return lambda: y.copy_(x)
    return call


def shuffled(x, groups):
    n, c, *rest = x.shape
    return x.view(n, groups, c // groups, *rest).transpose(1, 2)


def channel_shuffle(shape, groups):
    def call(torch, t):
        x = shuffled(t.normal(*shape), groups)
        y = t.empty(*x.shape)
        return lambda: y.copy_(x)
    return call


def cat_shuffle(shape, halves_out):
    def call(torch, t):
        a, b = t.normal(*shape), t.normal(*shape)
        joined = torch.cat([a, b], 1)
        view = shuffled(joined, 2)
        y = t.empty(*view.shape)
        parts = y.view(joined.shape).chunk(2, 1)
        outputs = [t.empty(*part.shape) for part in parts]

        def run():
            torch.cat([a, b], 1, out=joined)
            y.copy_(view)
            for part, output in zip(parts, outputs) if halves_out else ():
                output.copy_(part)
        return run
    return call


def cat_shuffle_grad(shape, halves_in):
    """index_add into zeros by fp_index, chunk, contiguous."""
    def call(torch, t):
        n, half, *rest = shape
        a, b = t.normal(*shape), t.normal(*shape)
        dy = torch.cat([a, b], 1)
        index = torch.arange(2 * half).view(2, half).t().reshape(-1).contiguous()
        total = t.empty(n, 2 * half, *rest)
        parts = total.chunk(2, 1)
        outputs = [t.empty(*part.shape) for part in parts]

        def run():
            if halves_in:
                torch.cat([a, b], 1, out=dy)
            total.zero_()
            total.index_add_(1, index, dy)
            for part, output in zip(parts, outputs):
                output.copy_(part)
        return run
    return call


def index_select(shape, count, axis):
    def call(torch, t):
        x, index = t.normal(*shape), t.permutation(shape[axis])[:count].clone()
        y = torch.index_select(x, axis, index)
        return lambda: torch.index_select(x, axis, index, out=y)
    return call


def gather(shape, index_shape):
    def call(torch, t):
        x, index = t.normal(*shape), t.index(shape[0], *index_shape).view(-1)
        y = torch.index_select(x, 0, index)
        return lambda: torch.index_select(x, 0, index, out=y)
    return call


def gather_elements(shape, index_shape, dim):
    def call(torch, t):
        x, index = t.normal(*shape), t.index(shape[dim], *index_shape)
        y = torch.gather(x, dim, index)
        return lambda: torch.gather(x, dim, index, out=y)
    return call


def index_add(shape, count, axis):
    def call(torch, t):
        source_shape = list(shape)
        source_shape[axis] = count
        x, source = t.normal(*shape), t.normal(*source_shape)
        index = t.permutation(count) if count == shape[axis] else t.index(shape[axis], count)
        y = x.clone()
        return lambda: torch.index_add(x, axis, index, source, out=y)
    return call


def softmax(shape, dim):
    def call(torch, t):
        x, y = t.normal(*shape), t.empty(*shape)
        return lambda: torch.ops.aten._softmax.out(x, dim, False, out=y)
    return call


def softmax_grad(shape, dim):
    def call(torch, t):
        dy, y, dx = t.normal(*shape), t.uniform(*shape), t.empty(*shape)
        function = torch.ops.aten._softmax_backward_data.out
        return lambda: function(dy, y, dim, y.dtype, grad_input=dx)
    return call


def cross_entropy(rows, classes, weighted=False, smoothing=0.0):
    def call(torch, t):
        x, target = t.normal(rows, classes), t.index(classes, rows)
        weight = t.uniform(classes) if weighted else None
        return lambda: torch.nn.functional.cross_entropy(x, target, weight, label_smoothing=smoothing)
    return call


def cross_entropy_grad(rows, classes):
    """From the original inputs: computes log_softmax again, then the gradients of nll_loss and log_softmax."""
    def call(torch, t):
        aten = torch.ops.aten
        x, target, dy = t.normal(rows, classes), t.index(classes, rows), t.normal()
        logs, picked, dx = t.empty(rows, classes), t.empty(rows, classes), t.empty(rows, classes)
        total = t.empty()
        total.fill_(rows)

        def run():
            aten._log_softmax.out(x, 1, False, out=logs)
            aten.nll_loss_backward.grad_input(dy, logs, target, None, 1, -100, total, grad_input=picked)
            aten._log_softmax_backward_data.out(picked, logs, 1, x.dtype, out=dx)
        return run
    return call


def cumsum(shape, dim):
    def call(torch, t):
        x, y = t.normal(*shape), t.empty(*shape)
        return lambda: torch.cumsum(x, dim, out=y)
    return call


def norm(shape):
    def call(torch, t):
        x, y = t.normal(*shape), t.empty()
        return lambda: torch.linalg.vector_norm(x, out=y)
    return call


def topk(shape, k):
    def call(torch, t):
        x = t.normal(*shape)
        out = torch.topk(x, k)
        return lambda: torch.topk(x, k, out=(out.values, out.indices))
    return call


def reduced(name, shape, axes):
    def call(torch, t):
        x = t.normal(*shape)
        if axes is None:
            return lambda: getattr(torch, name)(x)
        y = x.mean(axes)
        return lambda: torch.mean(x, axes, out=y)
    return call


def bias_grad(shape):
    axes = [axis for axis in range(len(shape)) if axis != 1]

    def call(torch, t):
        x = t.normal(*shape)
        y = x.sum(axes)
        return lambda: torch.sum(x, axes, out=y)
    return call


def expanded(gradient, shape, view):
    """dy/n as a view of the shape, made contiguous."""
    def call(torch, t):
        dy, dx = t.normal(*gradient), t.empty(*shape)
        n = dx.numel() / dy.numel()
        return lambda: dx.copy_((dy / n).view(view).expand(shape))
    return call


def greatest(shape, axis):
    def call(torch, t):
        x = t.normal(*shape)
        out = torch.max(x, axis)
        return lambda: torch.max(x, axis, out=(out.values, out.indices))
    return call


def sort(shape, dtype=None):
    def call(torch, t):
        x = t.normal(*shape)
        out = torch.sort(x, dim=-1, stable=True)
        return lambda: torch.sort(x, dim=-1, stable=True, out=(out.values, out.indices))
    return call


def argsort(shape):
    return sort(shape)


def max_pool(shape, kernel, stride, padding, dilation=1, ceil_mode=False):
    def call(torch, t):
        x = t.normal(*shape)
        window = [kernel] * 2, [stride] * 2, [padding] * 2, [dilation] * 2, ceil_mode
        y, places = torch.ops.aten.max_pool2d_with_indices(x, *window)
        function = torch.ops.aten.max_pool2d_with_indices.out
        return lambda: function(x, *window, out=y, indices=places)
    return call


def max_pool_grad(shape):
    """For adjacent windows of 2x2."""
    def call(torch, t):
        n, c, h, w = shape
        x = t.normal(n, c, 2 * h, 2 * w)
        dy = t.normal(*shape)
        _, places = torch.ops.aten.max_pool2d_with_indices(x, [2, 2], [2, 2], [0, 0])
        dx = t.empty(n, c, 2 * h, 2 * w)
        function = torch.ops.aten.max_pool2d_with_indices_backward.grad_input
        return lambda: function(dy, x, [2, 2], [2, 2], [0, 0], [1, 1], False, places, grad_input=dx)
    return call


def average_pool(shape):
    def call(torch, t):
        x = t.normal(*shape)
        y = torch.nn.functional.adaptive_avg_pool2d(x, 1)
        return lambda: torch.mean(x, [2, 3], keepdim=True, out=y)
    return call


def average_pool_grad(shape, size):
    n, c = shape[:2]
    return expanded(shape, (n, c, size, size), (n, c, 1, 1))


def response_norm(shape, backward=False):
    def call(torch, t):
        x, dy = t.normal(*shape), t.normal(*shape)

        def norm():
            return torch.nn.functional.local_response_norm(x, 5, 0.0005, 0.75, 2)
        if not backward:
            return norm
        x.requires_grad_()
        y = norm()
        return lambda: torch.autograd.grad(y, x, dy, retain_graph=True)
    return call


def batch_norm_infer_grad(shape):
    def call(torch, t):
        c = shape[1]
        x, dy = t.normal(*shape), t.normal(*shape)
        weight, mean, variance = t.normal(c), t.empty(c), t.uniform(c)
        function = torch.ops.aten.native_batch_norm_backward
        return lambda: function(dy, x, weight, mean, variance, None, None, False, 1e-5, [True, True, True])
    return call


def batch_norm(shape, backward=False):
    def call(torch, t):
        c = shape[1]
        x, dy = t.normal(*shape), t.normal(*shape)
        weight, bias, mean = t.normal(c), t.normal(c), t.empty(c)
        variance = t.uniform(c)
        aten = torch.ops.aten
        arguments = (x, weight, bias, mean, variance, True, 0.1, 1e-5)
        _, save_mean, save_invstd = aten.native_batch_norm(*arguments)
        if backward:
            return lambda: aten.native_batch_norm_backward(dy, x, weight, mean, variance, save_mean, save_invstd, True,
                                                           1e-5, [True, True, True])
        return lambda: aten.native_batch_norm(*arguments)
    return call


def matmul(a_shape, b_shape):
    def call(torch, t):
        a, b = t.normal(*a_shape), t.normal(*b_shape)
        y = torch.matmul(a, b)
        return lambda: torch.matmul(a, b, out=y)
    return call


def linear(n, k, m):
    def call(torch, t):
        x, weight, bias = t.normal(n, k), t.normal(m, k), t.normal(m)
        return lambda: torch.nn.functional.linear(x, weight, bias)
    return call


def conv2d(shape, m, kernel, stride, padding, groups, part):
    def call(torch, t):
        n, c, h, w = shape
        x, weight = t.normal(*shape), t.normal(m, c // groups, kernel, kernel)
        y = torch.nn.functional.conv2d(x, weight, None, stride, padding, 1, groups)
        if part == "forward":
            return lambda: torch.nn.functional.conv2d(x, weight, None, stride, padding, 1, groups)
        mask = [part == "input", part == "weight", False]
        function = torch.ops.aten.convolution_backward
        pair = [stride, stride], [padding, padding]
        return lambda: function(y, x, weight, None, *pair, [1, 1], False, [0, 0], groups, mask)
    return call


def conv_cases(size, shape, m, kernel, stride, padding, groups):
    n, c, h, w = shape
    weight = (m, c // groups, kernel, kernel)
    y = (n, m, (h + 2 * padding - kernel) // stride + 1, (w + 2 * padding - kernel) // stride + 1)
    attrs = f"stride=[{stride}],padding=[{padding}],groups={groups}"
    arguments = (shape, m, kernel, stride, padding, groups)
    return [
        Case("conv2d", size, spelled(shape, weight), attrs, conv2d(*arguments, "forward")),
        Case("conv2d_grad_input", size, spelled(y, weight), attrs + f",input_size=[{h},{w}]",
             conv2d(*arguments, "input")),
        Case("conv2d_grad_weight", size, spelled(y, shape), attrs + f",kernel_size=[{kernel}]",
             conv2d(*arguments, "weight")),
    ]


def both_sizes(op, large, small, attrs, make, inputs=1):
    return [Case(op, size, spelled(*[shape] * inputs), attrs, make(shape))
            for size, shape in (("large", large), ("small", small))]


def elementwise():
    hidden, small = (32, 128, 768), (64, 1000)
    cases = []
    for op, attrs in (("relu", ""), ("softplus", ""), ("muls", "value=0.125"), ("adds", "value=0.125"),
                      ("reshape", "shape=[-1]"), ("silu", ""), ("gelu", ""), ("floor", ""), ("fill", "value=1")):
        cases += both_sizes(op, hidden, small, attrs, unary(op))
    for op, attrs in (("add", ""), ("mul", ""), ("axpy", "alpha=0.5"), ("relu_grad", ""), ("softplus_grad", ""),
                      ("silu_grad", ""), ("gelu_grad", "")):
        cases += both_sizes(op, hidden, small, attrs, binary(op), inputs=2)
    # A bias of tokens and of channels, a mask of scores, a scale of rows.
    for size, op, shape, other in (("large", "add", (32, 128, 3072), (3072,)), ("small", "add", (64, 1000), (1000,)),
                                   ("large", "add", (32, 64, 56, 56), (64, 1, 1)),
                                   ("small", "add", (1, 464, 7, 7), (464, 1, 1)),
                                   ("large", "add", (32, 12, 128, 128), (32, 1, 1, 128)),
                                   ("large", "mul", (4096, 768), (4096, 1)), ("small", "mul", (256, 250), (256, 1)),
                                   ("small", "mul", (256, 1), (250,))):
        cases.append(Case(op, size, spelled(shape, other), "", broadcast(op)(shape, other)))
    for size, shape, size_of_sum, axes in (("large", (32, 128, 3072), (3072,), (0, 1)),
                                           ("large", (32, 64, 56, 56), (64, 1, 1), (0, 2, 3)),
                                           ("large", (4096, 768), (4096, 1), (1,)),
                                           ("small", (64, 1000), (1000,), (0,)),
                                           ("small", (1, 464, 7, 7), (464, 1, 1), (0, 2, 3))):
        cases.append(Case("sum_to_size", size, spelled(shape), "size=[" + ",".join(map(str, size_of_sum)) + "]",
                          sum_to_size(shape, size_of_sum, axes)))
    for target in ("fp16", "fp32"):
        cases += both_sizes("cast", hidden, small, "to=" + target, cast(None, target))
    return cases


def movement():
    stage2, half2, stage4 = (32, 116, 28, 28), (32, 58, 28, 28), (1, 464, 7, 7)
    half4 = (1, 232, 7, 7)
    cases = []
    for size, half in (("large", half2), ("small", half4)):
        cases.append(Case("concat", size, spelled(half, half), "axis=1", concat([half, half], 1)))
    for size, shape in (("large", stage2), ("small", stage4)):
        n, c, h, w = shape
        cases.append(Case("split", size, spelled(shape), "axis=1", split(shape, 1)))
        cases.append(Case("channel_shuffle", size, spelled(shape), "groups=2", channel_shuffle(shape, 2)))
        five = (n, 2, c // 2, h, w)
        cases.append(Case("contiguous", size, spelled(five), "view=transpose(1,2)",
                          view_copy(five, lambda x: x.transpose(1, 2))))
        cases.append(Case("index_select", size, spelled(shape, (c // 2,)), "axis=1,data.index=shuffle(2)",
                          index_select(shape, c // 2, 1)))
        cases.append(Case("index_add", size, spelled(shape, (c,), shape), "axis=1,data.index=permutation",
                          index_add(shape, c, 1)))
    for size, half in (("large", half2), ("small", half4)):
        whole = (half[0], 2 * half[1], *half[2:])
        cases.append(Case("cat_shuffle", size, spelled(half, half), "groups=2", cat_shuffle(half, False)))
        cases.append(Case("cat_shuffle_split", size, spelled(half, half), "groups=2", cat_shuffle(half, True)))
        cases.append(Case("cat_shuffle_grad", size, spelled(whole), "groups=2", cat_shuffle_grad(half, False)))
        cases.append(Case("cat_shuffle_split_grad", size, spelled(half, half), "groups=2",
                          cat_shuffle_grad(half, True)))
    for size, shape in (("large", (2048, 3072)), ("small", (256, 250))):
        cases.append(Case("contiguous", size, spelled(shape), "view=transpose(0,1)",
                          view_copy(shape, lambda x: x.transpose(0, 1))))
        cases.append(Case("contiguous", size, spelled(shape), f"view=slice(1,0,{shape[1] // 2},2)",
                          view_copy(shape, lambda x: x[:, ::2])))
        cases.append(Case("transpose", size, spelled(shape), "perm=[1,0]",
                          view_copy(shape, lambda x: x.transpose(0, 1))))
    for size, batch in (("large", 32), ("small", 1)):
        shape = (batch, 12, 128, 64)
        cases.append(Case("transpose", size, spelled(shape), "perm=[0,1,3,2]",
                          view_copy(shape, lambda x: x.transpose(2, 3))))
        cases.append(Case("transpose", size, spelled(shape), "perm=[0,2,1,3]",
                          view_copy(shape, lambda x: x.transpose(1, 2))))
    return cases


def gathers():
    cases = []
    for size, table, index in (("large", (30522, 768), (32, 128)), ("small", (512, 64), (8, 128)),
                               ("large", (7, 4), (268569,)), ("large", (8819, 4), (1000,))):
        cases.append(Case("gather", size, spelled(table, index), "axis=0", gather(table, index)))
    for size, shape, index in (("large", (100, 80, 28, 28), (100, 1, 28, 28)), ("small", (1000, 81), (1000, 1)),
                               ("large", (2, 201600), (2, 2000)), ("large", (1000, 1000), (1000, 1000))):
        cases.append(Case("gather_elements", size, spelled(shape, index), "dim=1",
                          gather_elements(shape, index, 1)))
    cases.append(Case("gather_elements", "small", spelled((256, 128), (256, 128)), "dim=0",
                      gather_elements((256, 128), (256, 128), 0)))
    cases.append(Case("index_add", "large", spelled((30522, 768), (4096,), (4096, 768)), "axis=0",
                      index_add((30522, 768), 4096, 0)))
    return cases


def reductions():
    cases = []
    for size, shape in (("large", (32, 12, 128, 128)), ("small", (64, 1000))):
        cases.append(Case("softmax", size, spelled(shape), "dim=-1", softmax(shape, -1)))
        cases.append(Case("softmax_grad", size, spelled(shape, shape), "dim=-1", softmax_grad(shape, -1)))
        cases.append(Case("max", size, spelled(shape), "axis=-1", greatest(shape, -1)))
        cases.append(Case("norm", size, spelled(shape), "", norm(shape)))
        cases += [Case("cumsum", size, spelled(shape), f"dim={dim}", cumsum(shape, dim)) for dim in (-1, -2)]
        cases.append(Case("topk", size, spelled(shape), "k=8", topk(shape, 8)))
        cases.append(Case("sum", size, spelled(shape), "", reduced("sum", shape, None)))
        cases.append(Case("mean", size, spelled(shape), "", reduced("mean", shape, None)))
        for op in ("sum_grad", "mean_grad"):
            cases.append(Case(op, size, spelled((), shape), "", expanded((), shape, ())))
        rows = (len(shape) - 1)
        cases.append(Case("reduce_mean", size, spelled(shape), f"axes=[{rows}]", reduced("", shape, [rows])))
        cases.append(Case("reduce_mean", size, spelled(shape), "axes=[0]", reduced("", shape, [0])))
        cases.append(Case("reduce_mean_grad", size, spelled(shape[:-1], shape), f"axes=[{rows}]",
                          expanded(shape[:-1], shape, (*shape[:-1], 1))))
    for size, shape in (("large", (64, 21, 56, 56)), ("small", (8, 21, 16, 16))):
        cases.append(Case("softmax", size, spelled(shape), "dim=1", softmax(shape, 1)))
        cases.append(Case("softmax_grad", size, spelled(shape, shape), "dim=1", softmax_grad(shape, 1)))
        cases.append(Case("max", size, spelled(shape), "axis=1", greatest(shape, 1)))
    for size, rows, classes in (("large", 1024, 1000), ("large", 160, 30522), ("small", 64, 1000)):
        cases.append(Case("cross_entropy", size, spelled((rows, classes), (rows,)), "", cross_entropy(rows, classes)))
        cases.append(Case("cross_entropy", size, spelled((rows, classes), (rows,), (classes,)), "",
                          cross_entropy(rows, classes, True)))
        cases.append(Case("cross_entropy", size, spelled((rows, classes), (rows,)), "label_smoothing=0.1",
                          cross_entropy(rows, classes, False, 0.1)))
        cases.append(Case("cross_entropy_grad", size, spelled((), (rows, classes), (rows,)), "",
                          cross_entropy_grad(rows, classes)))
    for size, shape in (("large", (4096, 768)), ("large", (32, 64, 112, 112)), ("large", (32, 512, 7, 7)),
                        ("small", (64, 1000)), ("small", (1, 464, 7, 7))):
        cases.append(Case("bias_grad", size, spelled(shape), "", bias_grad(shape)))
    return cases


def layers():
    cases = []
    for size, shape in (("large", (32, 1024, 7, 7)), ("large", (32, 64, 56, 56)), ("small", (1, 1024, 7, 7))):
        cases.append(Case("global_avg_pool2d", size, spelled(shape), "", average_pool(shape)))
        cases.append(Case("global_avg_pool2d_grad", size, spelled((*shape[:2], 1, 1)), f"input_size=[{shape[2]}]",
                          average_pool_grad((*shape[:2], 1, 1), shape[2])))
    for size, shape in (("large", (8, 96, 55, 55)), ("small", (1, 256, 13, 13))):
        cases.append(Case("lrn", size, spelled(shape), "alpha=0.0005,k=2", response_norm(shape)))
        cases.append(Case("lrn_grad", size, spelled(shape, shape, shape), "alpha=0.0005,k=2",
                          response_norm(shape, True)))
    for size, shape in (("large", (32, 64, 112, 112)), ("small", (1, 64, 28, 28))):
        cases.append(Case("max_pool2d", size, spelled(shape), "kernel_size=[3],stride=[2],padding=[1]",
                          max_pool(shape, 3, 2, 1)))
        cases.append(Case("max_pool2d", size, spelled(shape), "kernel_size=[3],stride=[2],padding=[1],dilation=[2]",
                          max_pool(shape, 3, 2, 1, 2)))
        cases.append(Case("max_pool2d", size, spelled(shape), "kernel_size=[3],stride=[2],ceil_mode=true",
                          max_pool(shape, 3, 2, 0, 1, True)))
    for size, shape in (("large", (32, 64, 56, 56)), ("small", (1, 64, 14, 14))):
        cases.append(Case("max_pool2d_grad", size, spelled(shape, shape), "", max_pool_grad(shape)))
        cases.append(Case("batch_norm", size, ",".join([spelled(shape)] + [str(shape[1])] * 4), "", batch_norm(shape)))
        cases.append(Case("batch_norm_grad", size,
                          ",".join([spelled(shape, shape)] + [str(shape[1])] * 3), "", batch_norm(shape, True)))
        cases.append(Case("batch_norm_infer_grad", size,
                          ",".join([spelled(shape, shape)] + [str(shape[1])] * 3), "", batch_norm_infer_grad(shape)))
    for size, m, k, n in (("large", 1024, 768, 768), ("small", 128, 128, 128)):
        cases.append(Case("matmul", size, spelled((m, k), (k, n)), "", matmul((m, k), (k, n))))
        cases.append(Case("linear", size, spelled((m, k), (n, k), (n,)), "", linear(m, k, n)))
    for size, shape in (("large", (2, 201600)), ("small", (8, 1000))):
        cases.append(Case("sort", size, spelled(shape), "", sort(shape)))
        cases.append(Case("argsort", size, spelled(shape), "", argsort(shape)))
    for size, n in (("large", 32), ("small", 1)):
        side = 28 if n > 1 else 14
        cases += conv_cases(size, (n, 116, side, side), 116, 3, 1, 1, 116)
        cases += conv_cases(size, (n, 116, side, side), 116, 1, 1, 0, 1)
        cases += conv_cases(size, (n, 64, side, side), 64, 3, 1, 1, 1)
    return cases


CASES = elementwise() + movement() + gathers() + reductions() + layers()
