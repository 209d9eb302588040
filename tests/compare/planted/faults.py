"""Twenty faults of kernels, as functions of the correct outputs of an operator."""

import numpy as np


def first(change):
    """Changes the first output."""
    def changed(outputs):
        name = next(iter(outputs))
        outputs[name] = np.ascontiguousarray(change(outputs[name]), np.float32)
        return outputs
    return changed


def part(change, share=0.25):
    """Changes the last share of the first output's elements."""
    def changed(x):
        flat = x.reshape(-1).copy()
        at = max(1, int(len(flat) * share))
        flat[-at:] = change(flat[-at:])
        return flat.reshape(x.shape)
    return first(changed)


def channel(change):
    def changed(x):
        y = x.copy()
        y[:, 0] = change(y[:, 0])
        return y
    return first(changed)


def weight_gradient(change):
    """Changes the second output: a gradient of weights."""
    def changed(outputs):
        name = list(outputs)[1]
        outputs[name] = np.ascontiguousarray(change(outputs[name]), np.float32)
        return outputs
    return changed


CONV, NORM, RELU, ADD = "conv2d", "batch_norm", "relu", "add_Tensor"
CONV_BACKWARD, NORM_BACKWARD, RELU_BACKWARD = "NpuConvolutionBackward", "NativeBatchNormBackward", "ReluBackward0"

# name: (operator, the position of the call as a share of its calls, change)
FAULTS = {
    "conv negated": (CONV, 0.4, first(lambda x: -x)),
    "conv scaled by 1.25": (CONV, 0.7, first(lambda x: 1.25 * x)),
    "conv without its last channel": (CONV, 0.5, channel(np.zeros_like)),
    "conv rows shifted by one": (CONV, 0.3, first(lambda x: np.roll(x, 1, 3))),
    "conv channels permuted": (CONV, 0.6, first(lambda x: x[:, ::-1])),
    "conv batch reversed": (CONV, 0.2, first(lambda x: x[::-1])),
    "norm without its shift": (NORM, 0.5, first(lambda x: x + 0.5)),
    "norm of another variance": (NORM, 0.3, first(lambda x: 1.2 * x)),
    "relu that lets negatives through": (RELU, 0.5, first(lambda x: x - 0.2)),
    "relu that stops early": (RELU, 0.6, part(np.zeros_like, 0.3)),
    "add that doubles": (ADD, 0.5, first(lambda x: 2 * x)),
    "add of noise": (ADD, 0.3, first(lambda x: x + 0.2 * np.sin(np.arange(x.size)).reshape(x.shape))),
    "gradient of conv negated": (CONV_BACKWARD, 0.3, first(lambda x: -x)),
    "gradient of conv zero": (CONV_BACKWARD, 0.6, first(np.zeros_like)),
    "gradient of weights transposed": (CONV_BACKWARD, 0.5, weight_gradient(lambda x: x[::-1, ::-1])),
    "gradient of weights zero": (CONV_BACKWARD, 0.8, weight_gradient(np.zeros_like)),
    "gradient of norm doubled": (NORM_BACKWARD, 0.4, first(lambda x: 2 * x)),
    "gradient of norm random": (NORM_BACKWARD, 0.7,
                                first(lambda x: np.random.default_rng(0).permutation(x.reshape(-1)).reshape(x.shape))),
    "gradient of relu unmasked": (RELU_BACKWARD, 0.5, first(lambda x: x + 0.5 * np.abs(x).mean())),
    "gradient of relu a quarter stale": (RELU_BACKWARD, 0.3, part(lambda x: np.roll(x, len(x) // 2))),
}


def place(records, fault):
    """Index of the record that the fault is planted in."""
    op, share, _ = FAULTS[fault]
    found = [i for i, record in enumerate(records) if record.op == op]
    return found[int(share * (len(found) - 1))]
