"""Operators of a model as custom Functions whose gradient is right or, in one call, wrong in a known way.

A Function's node is recorded under its class's name: ReluBackward of the class Relu. What it keeps has the names that
PyTorch's own node has, so that the operator table knows it."""

import torch
from torch import nn
from torch.autograd import Function

aten = torch.ops.aten


class Relu(Function):
    opbench_saved = ["result"]

    @staticmethod
    def forward(ctx, fault, x):
        ctx.fault, result = fault, torch.relu(x)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.fault(aten.threshold_backward(grad, ctx.saved_tensors[0], 0))


class Convolution(Function):
    opbench_saved = ["input", "weight", "stride", "padding", "dilation", "groups", "transposed"]

    @staticmethod
    def forward(ctx, fault, x, weight, stride, padding, dilation, groups):
        ctx.save_for_backward(x, weight)
        ctx.fault, ctx.stride, ctx.padding, ctx.dilation, ctx.groups = fault, stride, padding, dilation, groups
        ctx.transposed = False
        return torch.conv2d(x, weight, None, stride, padding, dilation, groups)

    @staticmethod
    def backward(ctx, grad):
        dx, dw, _ = aten.convolution_backward(grad, *ctx.saved_tensors, None, ctx.stride, ctx.padding, ctx.dilation, False,
                                              [0, 0], ctx.groups, [True, True, False])
        return None, ctx.fault(dx), dw, None, None, None, None


class NativeBatchNorm(Function):
    opbench_saved = ["input", "weight", "result1", "result2", "training", "eps"]

    @staticmethod
    def forward(ctx, fault, x, weight, bias, eps):
        y, mean, invstd = aten.native_batch_norm(x, weight, bias, None, None, True, 0.1, eps)
        ctx.save_for_backward(x, weight, mean, invstd)
        ctx.fault, ctx.training, ctx.eps = fault, True, eps
        return y

    @staticmethod
    def backward(ctx, grad):
        x, weight, mean, invstd = ctx.saved_tensors
        dx, dw, db = aten.native_batch_norm_backward(grad, x, weight, None, None, mean, invstd, True, ctx.eps, [True] * 3)
        return None, ctx.fault(dx), dw, db, None


class Addmm(Function):
    opbench_saved = ["mat1", "mat2"]

    @staticmethod
    def forward(ctx, fault, bias, x, mat2):
        ctx.save_for_backward(x, mat2)
        ctx.fault = fault
        return torch.addmm(bias, x, mat2)

    @staticmethod
    def backward(ctx, grad):
        x, mat2 = ctx.saved_tensors
        return None, grad.sum(0), ctx.fault(grad @ mat2.t()), x.t() @ grad


FAULTS = {
    "five_percent_too_much": lambda grad: grad * 1.05,
    "tail_is_zero": lambda grad: torch.cat([grad.reshape(-1)[:-16], grad.new_zeros(16)]).reshape(grad.shape),
    "last_channel_twice": lambda grad: torch.cat([grad[:, :-1], grad[:, -1:] * 2], 1),
    "one_row_late": lambda grad: grad.roll(1, -1),
}


def sites(model):
    """Modules that can be replaced, by path. The first passes its gradient to no module."""
    kinds = (nn.ReLU, nn.Conv2d, nn.BatchNorm2d, nn.Linear)
    names = [name for name, module in model.named_modules() if type(module) in kinds]
    return [name for name in names if not (isinstance(model.get_submodule(name), nn.Conv2d) and name == names[0])]


def plant(model, site, fault):
    """The module's operator becomes a Function; in its first call a step the gradient has the fault (None: it is right).
    Returns the name of the node."""
    module, calls = model.get_submodule(site), []

    def right(grad):
        return grad

    def forward(x):
        calls.append(x)
        change = FAULTS[fault] if fault and len(calls) == 1 else right
        if isinstance(module, nn.ReLU):
            return Relu.apply(change, x)
        if isinstance(module, nn.Conv2d):
            return Convolution.apply(change, x, module.weight, module.stride, module.padding, module.dilation, module.groups)
        if isinstance(module, nn.BatchNorm2d):
            return NativeBatchNorm.apply(change, x, module.weight, module.bias, module.eps)
        return Addmm.apply(change, module.bias, x.reshape(-1, x.shape[-1]), module.weight.t()).reshape(*x.shape[:-1], -1)

    module.forward = forward
    return {nn.ReLU: "ReluBackward", nn.Conv2d: "ConvolutionBackward", nn.BatchNorm2d: "NativeBatchNormBackward",
            nn.Linear: "AddmmBackward"}[type(module)]
