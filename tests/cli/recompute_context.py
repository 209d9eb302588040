#!/usr/bin/python3
"""Recomputes a small training context from its dump, in numpy and fp64: convolution (3x3, padding 1), batch norm, ReLU, the
sum as loss, all gradients, the update and the running statistics. Only the inputs of the first tasks are taken from the
dump.

recompute_context.py DUMP STEP TOLERANCE: prints the relative error (L2) of every result; exit 1 if one is larger.
"""
import sys

import h5py
import numpy as np

RATE, EPS, MOMENTUM = 0.1, 1e-5, 0.1


def datasets_of(path, step):
    """Returns {(task, side, name): values} for the records of a step."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and item.attrs["opbench_variant"].decode() == step:
            parts = name.split("/")
            task = item.attrs["opbench_task"].decode()
            found[task, parts[2], "/".join(parts[3:])] = np.array(item, dtype=np.float64)

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def shifted(x, i, j):
    """The elements of x that tap (i, j) of a 3x3 kernel with padding 1 meets."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return padded[:, :, i : i + x.shape[2], j : j + x.shape[3]]


def train(x, weight, gamma, beta, mean, var):
    taps = [(i, j) for i in range(3) for j in range(3)]
    conv = sum(np.einsum("mc,nchw->nmhw", weight[:, :, i, j], shifted(x, i, j)) for i, j in taps)

    def of_channel(values):
        return values[None, :, None, None]

    axes, count = (0, 2, 3), conv.size / conv.shape[1]
    batch_mean, batch_var = conv.mean(axes), conv.var(axes)
    scale = 1 / np.sqrt(batch_var + EPS)
    normal = (conv - of_channel(batch_mean)) * of_channel(scale)
    y = np.maximum(normal * of_channel(gamma) + of_channel(beta), 0)

    grad = (y > 0).astype(np.float64)  # the gradient of the sum is 1
    grad_beta, grad_gamma = grad.sum(axes), (grad * normal).sum(axes)
    centred = grad - of_channel(grad_beta / count) - normal * of_channel(grad_gamma / count)
    grad_conv = of_channel(gamma * scale) * centred
    grad_weight = np.zeros_like(weight)
    grad_x = np.zeros_like(x)
    for i, j in taps:
        grad_weight[:, :, i, j] = np.einsum("nmhw,nchw->mc", grad_conv, shifted(x, i, j))
        grad_x += np.einsum("mc,nmhw->nchw", weight[:, :, i, j], shifted(grad_conv, 2 - i, 2 - j))
    return {
        ("conv", "output", "result"): conv,
        ("relu", "output", "result"): y,
        ("loss", "output", "result"): y.sum(),
        ("bn", "output", "running_mean_out"): (1 - MOMENTUM) * mean + MOMENTUM * batch_mean,
        ("bn", "output", "running_var_out"): (1 - MOMENTUM) * var + MOMENTUM * batch_var * count / (count - 1),
        ("conv.conv2d_grad_input", "output", "grad_inputs/grad_inputs_0"): grad_x,
        ("conv.conv2d_grad_weight", "output", "grad_inputs/grad_inputs_1"): grad_weight,
        ("weight.update", "output", "result"): weight - RATE * grad_weight,
        ("gamma.update", "output", "result"): gamma - RATE * grad_gamma,
        ("beta.update", "output", "result"): beta - RATE * grad_beta,
    }


def main(path, step, tolerance):
    dumped = datasets_of(path, step)
    given = [dumped["conv", "input", name] for name in ("self", "weight")]
    given += [dumped["bn", "input", name] for name in ("weight", "bias", "running_mean", "running_var")]
    is_well = True
    for place, expected in train(*given).items():
        error = np.linalg.norm(dumped[place] - expected) / np.linalg.norm(expected)
        is_well &= bool(error <= tolerance)
        print(f"{error:.2e} {' '.join(place)}")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
