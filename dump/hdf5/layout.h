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
/// None if the dumper has no such number. 1 gives fp32, though bf16 is written under it too.
std::optional<DataTypeRow> data_type_row(std::int32_t number);

/// The types that the dumper writes: f32, f64, i8, i16, i32, i64.
const H5::PredType& file_type(StoredType stored);
/// Elements in memory; no `none`, and `boolean` as bytes.
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

/// Strides of a dense tensor as PyTorch counts them: an extent of 0 steps like one of 1.
Dims dense_strides(const Dims& shape);

/// Elements that are converted at once; bounds the memory of a transfer.
inline constexpr std::int64_t kChunkElements = 256 * 1024;

/// A rectangular part of a dataset; `offset` counts elements from the start of the range it is part
/// of.
struct Box {
  std::vector<hsize_t> start;
  std::vector<hsize_t> count;
  std::int64_t offset = 0;
};

/// Cuts a range of elements, counted in row-major order of `shape`, into boxes, in order.
void for_each_box(const Dims& shape, ElementRange range,
                  const std::function<void(const Box&)>& use);

/// Moves a range of elements between dense memory of `type` and a dataset of that shape.
void write_range(const H5::DataSet& to, const Dims& shape, ElementRange range,
                 const H5::DataType& type, const void* from);
void read_range(const H5::DataSet& from, const Dims& shape, ElementRange range,
                const H5::DataType& type, void* to);

}  // namespace opbench::hdf5
