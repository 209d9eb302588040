"""Windows of images, as convolutions and pools read them."""

import numpy as np


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


def max_pool_gradient(g, x, y):
    spread = np.repeat(np.repeat(g, 2, 2), 2, 3)
    return spread * (x == np.repeat(np.repeat(y, 2, 2), 2, 3))
