"""The dump's layout, against what DumpUtils.cpp of Ascend/pytorch (v1.5.0) writes, type by type."""

import h5py
import numpy as np
import pytest
import torch
from conftest import names, record, records

from opbench_torch import DumperError, dumper

ATTRIBUTES = ["DeviceType", "DataType", "FormatType", "Type", "Stride"]


def attributes_in_order(dataset):
    found = []
    h5py.h5a.iterate(dataset.id, lambda name: found.append(name.decode()), index_type=h5py.h5.INDEX_CRT_ORDER)
    return found


def is_type(dataset, kind):
    return dataset.id.get_type().equal(kind)


@pytest.mark.parametrize("dtype, number, stored", [
    (torch.float32, 1, h5py.h5t.IEEE_F32LE), (torch.uint8, 2, h5py.h5t.STD_I8LE), (torch.int8, 3, h5py.h5t.STD_I8LE),
    (torch.int16, 5, h5py.h5t.STD_I16LE), (torch.int32, 6, h5py.h5t.STD_I32LE), (torch.int64, 7, h5py.h5t.STD_I64LE),
    (torch.bool, 9, h5py.h5t.STD_I8LE), (torch.float16, 10, h5py.h5t.IEEE_F32LE),
    (torch.float64, 11, h5py.h5t.IEEE_F64LE), (torch.bfloat16, 1, h5py.h5t.IEEE_F32LE)])
def test_tensors_have_the_dumpers_types_and_attributes(tmp_path, dtype, number, stored):
    values = torch.tensor([[0, 1, 200], [3, 4, 5]]).to(dtype)
    with dumper(tmp_path / "d.h5"):
        values.clone()
    dataset = record(tmp_path / "d.h5", "clone")["input/self"]
    assert attributes_in_order(dataset)[:5] == ATTRIBUTES
    assert [int(dataset.attrs[name]) for name in ATTRIBUTES[:4]] == [0, number, 0, 0]
    assert dataset.attrs["Stride"].tolist() == [3, 1]
    assert is_type(dataset, stored)
    for name in ATTRIBUTES[:4]:
        attribute = h5py.h5a.open(dataset.id, name.encode())
        assert attribute.get_type().equal(h5py.h5t.STD_I32LE)
        assert attribute.get_space().get_simple_extent_type() == h5py.h5s.SCALAR
    assert h5py.h5a.open(dataset.id, b"Stride").get_type().equal(h5py.h5t.STD_I64LE)
    assert dataset.chunks is None and dataset.compression is None
    read = dataset[...].view(np.uint8) if dtype == torch.uint8 else dataset[...]
    assert np.array_equal(read.astype(np.float64), values.double().numpy())


def test_half_tensors_from_the_cpu_are_told_from_the_originals_garbage(tmp_path):
    with dumper(tmp_path / "d.h5"):
        torch.ones(2, dtype=torch.float16).clone()
        torch.ones(2, dtype=torch.bfloat16).clone()
    marks = [record(tmp_path / "d.h5", "clone", index)["input/self"].attrs["opbench_dtype"] for index in range(2)]
    assert marks == [b"fp16", b"bf16"]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1)])
def test_scalar_and_empty_tensors_keep_their_shapes(tmp_path, shape):
    with dumper(tmp_path / "d.h5"):
        torch.ones(shape).clone()
    dataset = record(tmp_path / "d.h5", "clone")["output/result"]
    assert dataset.shape == shape
    assert dataset.attrs["Stride"].shape == (len(shape),)


def test_data_is_logical_whatever_the_strides(tmp_path):
    base = torch.arange(24.0).reshape(2, 3, 4)
    with dumper(tmp_path / "d.h5"):
        torch.exp(base.transpose(0, 2)[1:, :, ::2])
        torch.exp(base[:1].expand(3, 3, 4))
        torch.exp(torch.arange(16.0).reshape(1, 4, 2, 2).to(memory_format=torch.channels_last))
    inputs = [record(tmp_path / "d.h5", "exp", index)["input/self"] for index in range(3)]
    assert np.array_equal(inputs[0][...], base.transpose(0, 2)[1:, :, ::2])
    assert np.array_equal(inputs[1][...], base[:1].expand(3, 3, 4))
    assert np.array_equal(inputs[2][...].ravel(), np.arange(16.0))
    assert inputs[0].attrs["Stride"].tolist() == [3, 1, 1] and inputs[2].attrs["Stride"].tolist() == [16, 4, 2, 1]


def test_complex_numbers_are_kept_with_onnxs_number(tmp_path):
    values = torch.tensor([1 + 2j, 3 - 1j])
    with dumper(tmp_path / "d.h5"):
        values.conj().exp()
    dataset = record(tmp_path / "d.h5", "exp")["input/self"]
    assert int(dataset.attrs["DataType"]) == 14
    assert np.array_equal(dataset[...], values.numpy().conj())


def plain(group, name):
    dataset = group[f"input/{name}"]
    assert list(dataset.attrs)[0] == "Type"
    return int(dataset.attrs["Type"]), dataset.dtype, dataset.shape


def test_numbers_and_lists_have_the_dumpers_save_types(tmp_path):
    x = torch.randn(1, 2, 5, 5)
    with dumper(tmp_path / "d.h5"):
        torch.nn.functional.conv2d(x, torch.randn(3, 2, 3, 3))
        torch.add(x, x, alpha=2)
        torch.mul(x, 3)
        torch.clamp(x, min=0.5)
        torch.sum(x, dim=(0, 1), dtype=torch.float64)
        torch.nn.functional.softplus(x, beta=2.5)
        torch.randn_like(x, memory_format=torch.contiguous_format).nan_to_num(nan=1.0)
        torch.cat([x, x], 1)
    path = tmp_path / "d.h5"
    i8, i32, i64, f64 = np.dtype("<i1"), np.dtype("<i4"), np.dtype("<i8"), np.dtype("<f8")
    assert plain(record(path, "convolution"), "stride") == (16, i64, (2,))
    assert plain(record(path, "convolution"), "groups") == (3, i64, ())
    assert plain(record(path, "convolution"), "transposed") == (4, i8, ())
    assert plain(record(path, "add_Tensor"), "alpha") == (7, i64, ())
    number = record(path, "mul_Tensor")["input/other"]  # where the schema has a tensor, it is one
    assert [int(number.attrs[name]) for name in ("Type", "DataType")] == [0, 7] and number.shape == () and number[()] == 3
    assert plain(record(path, "clamp"), "min") == (10, f64, ())
    assert "max" not in record(path, "clamp")["input"]
    assert plain(record(path, "sum_dim_IntList"), "dtype") == (14, i32, ())
    assert record(path, "sum_dim_IntList")["input/dtype"][()] == 11
    assert plain(record(path, "softplus"), "beta") == (7, f64, ())
    assert plain(record(path, "nan_to_num"), "nan") == (6, f64, ())
    assert plain(record(path, "randn_like"), "memory_format") == (17, i32, ())
    assert list(record(path, "cat")["input/tensors"]) == ["tensors_0", "tensors_1"]
    assert not any(len(group.attrs) for _, group in records(path))


def test_outputs_have_the_schemas_names(tmp_path):
    x = torch.randn(4, 4)
    with dumper(tmp_path / "d.h5"):
        x.clone().mul_(2)
        torch.exp(x, out=torch.empty(4, 4))
        torch.max(x, 1)
        torch.ops.aten.native_layer_norm(x, [4], None, None, 1e-5)
    outputs = {name: list(group["output"]) for name, group in records(tmp_path / "d.h5")}
    assert outputs == {"clone": ["result"], "mul__Tensor": ["self"], "exp_out": ["out"], "max_dim": ["indices", "values"],
                       "native_layer_norm": ["result0", "result1", "result2"]}


def test_inputs_are_those_before_the_operator_ran(tmp_path):
    x = torch.ones(3)
    with dumper(tmp_path / "d.h5"):
        x.add_(1)
        x.add_(1)
    second = record(tmp_path / "d.h5", "add__Tensor", 1)
    assert second["input/self"][...].tolist() == [2, 2, 2] and second["output/self"][...].tolist() == [3, 3, 3]


def test_backward_nodes_have_grads_what_they_kept_and_grad_inputs(tmp_path):
    x, w, b = torch.randn(2, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)
    with dumper(tmp_path / "d.h5"):
        torch.softmax(torch.nn.functional.linear(x, w, b), -1).pow(2).sum().backward()
    path = tmp_path / "d.h5"
    assert names(path) == ["addmm", "_softmax", "pow_Tensor_Scalar", "sum", "SumBackward0", "PowBackward0", "SoftmaxBackward0",
                           "AddmmBackward0"]
    node = record(path, "AddmmBackward0")
    assert np.allclose(node["input/mat2"], w.detach().numpy().T) and np.array_equal(node["input/mat1"], x.detach())
    assert plain(node, "alpha")[0] == 7 and plain(node, "mat2_sizes")[0] == 2
    grads = node["output/grad_inputs"]
    assert sorted(grads) == ["grad_inputs_0", "grad_inputs_1", "grad_inputs_2"]
    assert np.array_equal(grads["grad_inputs_1"], x.grad) and np.array_equal(np.transpose(grads["grad_inputs_2"]), w.grad)
    assert record(path, "SoftmaxBackward0")["input/dim"][()] == -1
    assert plain(record(path, "SoftmaxBackward0"), "dim")[0] == 3 and plain(record(path, "PowBackward0"), "exponent")[0] == 7
    assert np.array_equal(record(path, "PowBackward0")["input/grads/grads_0"], np.ones((2, 4)))


def test_undefined_gradients_leave_gaps(tmp_path):
    x, w = torch.randn(2, 3), torch.randn(4, 3, requires_grad=True)
    with dumper(tmp_path / "d.h5"):
        torch.nn.functional.linear(x, w, torch.zeros(4)).sum().backward()
    assert list(record(tmp_path / "d.h5", "AddmmBackward0")["output/grad_inputs"]) == ["grad_inputs_2"]


def test_sequence_ids_count_on_over_names_directions_and_files(tmp_path):
    x = torch.randn(3, requires_grad=True)
    for name in ("a.h5", "b.h5"):
        with dumper(tmp_path / name):
            x.exp().sum().backward()
    ids = [[int(group.name.split("/")[2]) for _, group in records(tmp_path / name)] for name in ("a.h5", "b.h5")]
    assert ids[0] == list(range(ids[0][0], ids[0][0] + 4)) and ids[1][0] > ids[0][-1]


def test_what_the_layout_cannot_hold_is_refused_with_advice(tmp_path):
    with pytest.raises(DumperError, match="sparse.*exclude='\\^"):
        with dumper(tmp_path / "d.h5"):
            torch.eye(3).to_sparse().coalesce()
    quantised = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
    with pytest.raises(DumperError, match="qint8"):
        with dumper(tmp_path / "q.h5"):
            quantised.dequantize()
