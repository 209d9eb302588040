"""Arguments and results of operators in the dump layout: names from the schema, types like the dumper's."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import torch

from .layout import Named, SaveType, copy_tensor, plain

_NUMBERS = {  # schema type: plain, optional
    "IntType": (SaveType.I64, SaveType.OPT_INT64),
    "SymIntType": (SaveType.I64, SaveType.OPT_INT64),
    "FloatType": (SaveType.DOUBLE, SaveType.OPT_DOUBLE),
    "NumberType": (SaveType.SCALAR, SaveType.OPT_SCALAR),
    "BoolType": (SaveType.BOOL, None),
}


#: Words that change the result. Each is recorded as its index, like the dumper does for other operators. cache_mode has
#: the words of all operators, so that none stands for another. The first word of "approximate" is the default, which is
#: not recorded.
_WORDS = {
    "approximate": ("none", "tanh"),
    "cache_mode": ("Norm", "PA_NZ", "default", "interleave"),
    "input_layout": ("BNSD", "BSND", "BSH", "SBH", "TND"),
    "rotary_mode": ("half", "interleave", "quarter", "interleave-half"),
}


def operator_name(schema: Any) -> str:
    """"add_Tensor" of aten::add.Tensor, "relu" of aten::relu."""
    base = schema.name.split("::")[-1]
    return f"{base}_{schema.overload_name}" if schema.overload_name else base


def bind(schema: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> List[Tuple[Any, Any]]:
    """Arguments of the schema with their values, including defaults."""
    bound = []
    for index, argument in enumerate(schema.arguments):
        if index < len(args):
            value = args[index]
        elif argument.name in kwargs:
            value = kwargs[argument.name]
        else:
            value = argument.default_value if argument.has_default_value() else None
        bound.append((argument, value))
    return bound


def is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


@lru_cache(maxsize=None)
def writes(func: Any) -> bool:
    """True if the operator changes an argument."""
    return any(is_written(argument) for argument in func._schema.arguments)


def makes_view(schema: Any) -> bool:
    """True if a result is a view of an argument, so nothing is computed."""
    return any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)


def has_tensor(values: Sequence[Any]) -> bool:
    return any(isinstance(value, torch.Tensor) or
               (isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value))
               for value in values)


def encode(name: str, value: Any, kind: Tuple[str, bool], where: str, is_forward: bool = True,
           copy: Any = copy_tensor) -> Iterator[Named]:
    """The datasets of one argument: empty if the layout has no form for it or the value is missing.

    kind: the schema's type, and True if it is optional. copy: makes the value of a tensor."""
    type_name, is_optional = kind
    if value is None:
        return
    if isinstance(value, torch.Tensor):
        yield name, copy(value, f"{where}/{name}")
    elif isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
        for index, item in enumerate(value):
            if isinstance(item, torch.Tensor):
                yield f"{name}/{name}_{index}", copy(item, f"{where}/{name}_{index}")
    elif isinstance(value, str) and value in _WORDS.get(name, ())[1 if name == "approximate" else 0:]:
        yield name, plain(SaveType.I64, _WORDS[name].index(value))
    elif type_name == "TensorType" and isinstance(value, (bool, int, float)):
        yield name, copy(torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None), f"{where}/{name}")
    else:
        save_type = _plain_type(value, type_name, is_optional, is_forward)
        encoded = None if save_type is None else plain(save_type, value)
        if encoded is not None:
            yield name, encoded


def _plain_type(value: Any, type_name: str, is_optional: bool, is_forward: bool) -> Optional[SaveType]:
    if isinstance(value, torch.dtype):
        return SaveType.SCALAR_TYPE
    if isinstance(value, torch.memory_format):
        return SaveType.OPT_MEM_FMT if is_optional or not is_forward else None
    if isinstance(value, (list, tuple)):
        if not all(isinstance(item, int) and not isinstance(item, bool) for item in value):
            return None  # masks, floats, nested lists: dropped, like the dumper does
        return SaveType.AR_LONG_INT if is_forward else SaveType.VEC_I64
    if not isinstance(value, (bool, int, float)):
        return None
    numbers = _NUMBERS.get(type_name)
    if numbers is None:
        numbers = _NUMBERS["BoolType" if isinstance(value, bool) else "IntType" if isinstance(value, int) else "FloatType"]
    return numbers[1 if is_optional else 0]


@lru_cache(maxsize=None)
def _kind_of_text(text: str) -> Tuple[str, bool]:
    match = re.fullmatch(r"Optional\[(.*)\]", text)
    inner = match.group(1) if match else text
    name = {"int": "IntType", "SymInt": "SymIntType", "float": "FloatType", "number": "NumberType", "Scalar": "NumberType",
            "bool": "BoolType", "Tensor": "TensorType"}.get(inner, inner)
    return name, match is not None


def kind_of(argument: Any) -> Tuple[str, bool]:
    return _kind_of_text(str(argument.type))


def encode_inputs(schema: Any, args: Sequence[Any], kwargs: Dict[str, Any], where: str, copy: Any = copy_tensor) -> List[Named]:
    """Inputs of a forward operator, before it runs."""
    return [named for argument, value in bind(schema, args, kwargs)
            for named in encode(argument.name, value, kind_of(argument), where, copy=copy)]


def encode_outputs(schema: Any, args: Sequence[Any], kwargs: Dict[str, Any], result: Any, where: str,
                   copy: Any = copy_tensor) -> List[Named]:
    """Outputs of a forward operator: the arguments that it writes, else its results, with the schema's names."""
    outputs = [named for argument, value in bind(schema, args, kwargs) if is_written(argument)
               for named in encode(argument.name, value, kind_of(argument), where, copy=copy)]
    returns = schema.returns
    results = (result,) if len(returns) == 1 else tuple(result or ())
    for index, (description, value) in enumerate(zip(returns, results)):
        if is_written(description):
            continue
        name = description.name or ("result" if len(returns) == 1 else f"result{index}")
        if isinstance(value, (torch.Tensor, list, tuple, int)) and not isinstance(value, bool):
            outputs += encode(name, value, _kind_of_text(str(description.type)), where, copy=copy)
    return outputs


@lru_cache(maxsize=1)
def _argument_types() -> Dict[str, Dict[str, str]]:
    """Types of arguments by operator ("maxpool2dwithindices") and name. Autograd's nodes do not distinguish Scalar and
    int."""
    types: Dict[str, Dict[str, str]] = {}
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        if space == "aten":
            known = types.setdefault(name.replace("_", "").lower(), {})
            for argument in schema.arguments:
                known.setdefault(argument.name, str(argument.type))
    return types


def saved_kind(node: str, name: str) -> Tuple[str, bool]:
    """The kind of a value saved by the node under this name; an unknown one has an empty type."""
    operator = re.sub(r"Backward\d*$", "", node).replace("_", "").lower()
    return _kind_of_text(_argument_types().get(operator, {}).get(name, ""))
