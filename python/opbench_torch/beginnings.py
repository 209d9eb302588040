"""Reproducible starts on two machines: random numbers, algorithms, weights, data."""

from __future__ import annotations

import functools
import os
import random
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
import torch

from .errors import DumperError

_DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


class Reproducible:
    """Changes by `reproducible`. `restore()` or the end of its `with` undoes them, but not the seeds."""

    def __init__(self) -> None:
        self._undo: List[Callable[[], None]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        before = getattr(owner, name)
        setattr(owner, name, value)
        self._undo.append(lambda: setattr(owner, name, before))

    def then(self, undo: Callable[[], None]) -> None:
        self._undo.append(undo)

    def restore(self) -> None:
        while self._undo:
            self._undo.pop()()

    def __enter__(self) -> "Reproducible":
        return self

    def __exit__(self, *_: Any) -> None:
        self.restore()


def reproducible(seed: int = 0, *, dropout: bool = True, tf32: bool = False) -> Reproducible:
    """Makes the following code reproducible, as far as PyTorch supports it.

    Seeds Python, NumPy and PyTorch on all devices. Requests deterministic algorithms (with a warning if
    none exists). Disables cuDNN's search for the fastest algorithm. Gives DataLoaders without a generator
    one with this seed, for the order of the data and for their workers. dropout=False: dropout is the
    identity. tf32=False: no TF32 products. Settings that CUDA reads at its start are set if CUDA has not started."""
    state = Reproducible()
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    torch.manual_seed(seed)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    _deterministic(state, tf32)
    _ordered_data(state, seed)
    if not dropout:
        for name in _DROPOUTS:
            if hasattr(torch.nn.functional, name):
                state.set(torch.nn.functional, name, _identity)
        if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
            _attention_without_dropout(state)
    return state


def _deterministic(state: Reproducible, tf32: bool) -> None:
    before, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    state.then(lambda: torch.use_deterministic_algorithms(before, warn_only=warned))
    state.set(torch.backends.cudnn, "deterministic", True)
    state.set(torch.backends.cudnn, "benchmark", False)
    state.set(torch.backends.cudnn, "allow_tf32", tf32)
    state.set(torch.backends.cuda.matmul, "allow_tf32", tf32)


def _ordered_data(state: Reproducible, seed: int) -> None:
    loader = torch.utils.data.DataLoader
    original = loader.__init__

    @functools.wraps(original)
    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("generator") is None and len(args) < 13:  # position of `generator` among the arguments
            kwargs["generator"] = torch.Generator().manual_seed(seed)
        original(self, *args, **kwargs)

    state.set(loader, "__init__", begin)


def _identity(input: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return input


def _attention_without_dropout(state: Reproducible) -> None:
    original = torch.nn.functional.scaled_dot_product_attention

    def attention(query: Any, key: Any, value: Any, mask: Any = None, dropout_p: float = 0.0, *args: Any, **kwargs: Any) -> Any:
        return original(query, key, value, kwargs.pop("attn_mask", mask), 0.0, *args, **kwargs)

    state.set(torch.nn.functional, "scaled_dot_product_attention", attention)


def compare_setup(path: Any, model: torch.nn.Module, optimizer: Optional[torch.optim.Optimizer] = None, batch: Any = None) -> Any:
    """Gives two machines the same weights, buffers, optimiser state and batch.

    If `path` does not exist, the arguments are saved there. If it exists, it is loaded into model and
    optimizer, in their dtypes and on their devices. Returns the batch on the model's device: tensors in
    lists, tuples and dictionaries. The same script can run on both machines; copy the file from the first
    to the second. Errors: DumperError if the file is of another model, or not a file of this function."""
    target = os.fspath(path)
    if not os.path.exists(target):
        _save(target, model, optimizer, batch)
        return batch
    saved = _read(target)
    _check_same(target, saved["model"], model.state_dict())
    if (saved["optimizer"] is None) != (optimizer is None):
        raise DumperError(f"{target} was saved {'without' if optimizer else 'with'} an optimizer; "
                          "call compare_setup with the same arguments on both")
    if (saved["batch"] is None) != (batch is None):
        raise DumperError(f"{target} was saved {'with' if saved['batch'] is not None else 'without'} a batch; "
                          "call compare_setup with the same arguments on both")
    model.load_state_dict(saved["model"])
    if optimizer is not None:
        optimizer.load_state_dict(saved["optimizer"])
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    return _moved(saved["batch"], device)


def _save(target: str, model: torch.nn.Module, optimizer: Optional[torch.optim.Optimizer], batch: Any) -> None:
    cpu = torch.device("cpu")
    content = {"opbench_setup": 1, "model": _moved(dict(model.state_dict()), cpu), "batch": _moved(batch, cpu),
               "optimizer": None if optimizer is None else _moved(optimizer.state_dict(), cpu)}
    temporary = f"{target}.{os.getpid()}.partial"
    try:
        torch.save(_packed(content), temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise DumperError(f"cannot write {target}: {error}; choose another place") from error
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _read(target: str) -> Dict[str, Any]:
    try:
        saved = _unpacked(torch.load(target, map_location="cpu", weights_only=True))
    except Exception as error:  # unpickling may raise any exception
        raise DumperError(f"{target} cannot be read: {error}; remove it, and save it again with compare_setup") from error
    if not isinstance(saved, dict) or saved.get("opbench_setup") != 1:
        raise DumperError(f"{target} is not of compare_setup; choose another name, or remove it")
    return saved


def _check_same(target: str, saved: Dict[str, torch.Tensor], mine: Dict[str, torch.Tensor]) -> None:
    def shape(state: Dict[str, torch.Tensor], name: str) -> Optional[Tuple[int, ...]]:
        return tuple(state[name].shape) if name in state else None

    differing = [name for name in {**saved, **mine} if shape(saved, name) != shape(mine, name)]
    if differing:
        name = differing[0]
        raise DumperError(f"{target} is of another model: {name} is {shape(saved, name)} there and {shape(mine, name)} here"
                          f"{f', and {len(differing) - 1} more differ' if differing[1:] else ''}")


def _moved(value: Any, device: torch.device) -> Any:
    return _mapped(value, lambda item: item.detach().to(device) if isinstance(item, torch.Tensor) else item)


# PyTorch 1.13 cannot load floats without also running arbitrary code of the file.
_FLOAT = "\0float "


def _packed(value: Any) -> Any:
    return _mapped(value, lambda item: _FLOAT + item.hex() if isinstance(item, float) else item)


def _unpacked(value: Any) -> Any:
    return _mapped(value, lambda item: float.fromhex(item[len(_FLOAT):])
                   if isinstance(item, str) and item.startswith(_FLOAT) else item)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(item, change) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(item, change) for item in value)
    return change(value)
