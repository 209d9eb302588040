#pragma once

#include <H5Cpp.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/elements.h"

namespace opbench::hdf5 {

/// How elements of a dtype are dumped. `number` is the attribute DataType.
struct DataTypeRow {
  DType dtype;
  std::int32_t number;
  StoredType stored;
};

const DataTypeRow& data_type_row(DType dtype);
/// Returns empty if the dumper has no such number. Number 1 gives fp32; bf16 has it too.
std::optional<DataTypeRow> data_type_row(std::int32_t number);

/// HDF5 types that the dumper writes: f32, f64, i8, i16, i32, i64.
const H5::PredType& file_type(StoredType stored);
/// HDF5 types of elements in memory; `boolean` as bytes. `none` is not allowed.
const H5::DataType& memory_type(StoredType stored);

/// Numbers of the attribute Type (SaveType of the dumper).
enum class SaveType : std::int32_t {
  tensor = 0,
  vec_i64 = 2,
  i64 = 3,
  boolean = 4,
  real = 5,
  opt_real = 6,
  scalar = 7,
  opt_i64 = 9,
  opt_scalar = 10,
  size = 13,
  scalar_type = 14,
  pair = 15,
  ar_long_int = 16,
  opt_memory_format = 17,
  tensor_options = 18,
};

/// Strides of a dense tensor like PyTorch: an extent of 0 counts as 1.
Dims dense_strides(const Dims& shape);

/// Elements converted at once. Limits the memory of a transfer.
inline constexpr std::int64_t kChunkElements = 256 * 1024;

/// A rectangular part of a dataset. `offset` counts elements from the start of the range that
/// contains it.
struct Box {
  std::vector<hsize_t> start;
  std::vector<hsize_t> count;
  std::int64_t offset = 0;
};

/// Splits a range of elements, in row-major order of `shape`, into boxes in order.
void for_each_box(const Dims& shape, ElementRange range,
                  const std::function<void(const Box&)>& use);

/// Copies a range of elements between dense memory of `type` and a dataset of shape `shape`.
void write_range(const H5::DataSet& to, const Dims& shape, ElementRange range,
                 const H5::DataType& type, const void* from);
void read_range(const H5::DataSet& from, const Dims& shape, ElementRange range,
                const H5::DataType& type, void* to);

}  // namespace opbench::hdf5
