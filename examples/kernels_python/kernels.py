"""Variants of softplus in Python: PyTorch, NumPy, and a kernel that fills its output."""

import numpy as np
import torch

import opbench_torch


@opbench_torch.kernel("softplus", dtypes=["fp32", "fp64"], name="log1p")
def softplus(x, beta, threshold):
    """log1p of exp, composed of operators of PyTorch"""
    t = x * beta
    return torch.where(t > threshold, x, torch.log1p(torch.exp(t)) / beta)


@opbench_torch.kernel("softplus", dtypes=["fp32"], name="numpy", array="numpy")
def softplus_of_arrays(x, beta, threshold):
    """logaddexp of NumPy"""
    t = x * np.float32(beta)
    return np.where(t > threshold, x, np.logaddexp(t, np.float32(0)) / np.float32(beta))


# A Triton kernel is called like this one: `y` is its output.
@opbench_torch.kernel("softplus", dtypes=["fp32"], name="filled", destination=True,
                      refuse=lambda x, y, beta: None if beta == 1 else "beta must be 1")
def softplus_into(x, y, threshold):
    """fills its output in place"""
    torch.exp(x, out=y).log1p_()
    torch.where(x > threshold, x, y, out=y)
