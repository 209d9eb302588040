#include "dump/hdf5_entry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dump/hdf5_attributes.h"
#include "dump/hdf5_location.h"
#include "tensor/error.h"
#include "tensor/view.h"

namespace opbench::hdf5 {
namespace {

bool is_float(StoredType stored) { return stored == StoredType::f32 || stored == StoredType::f64; }

std::string type_name(const H5::DataSet& dataset) {
  return fmt::format("{} of {} bits", name_of(dataset.getTypeClass()),
                     8 * dataset.getDataType().getSize());
}

// bf16 hides behind DataType 1; the mark must agree with the number.
DType read_dtype(const H5::DataSet& dataset) {
  const std::int32_t number = read_integer(dataset, "DataType");
  const auto row = data_type_row(number);
  if (!row) {
    throw Error(
        fmt::format("attribute DataType is {}, must be one of 1 2 3 5 6 7 9 10 11", number));
  }
  const auto mark = read_text(dataset, "opbench_dtype");
  if (!mark) return row->dtype;
  const DType dtype = parse_dtype(*mark);
  if (data_type_row(dtype).number != number) {
    throw Error(fmt::format("attribute opbench_dtype is {}, which DataType {} contradicts",
                            name(dtype), number));
  }
  return dtype;
}

std::optional<Format> read_format(const H5::DataSet& dataset) {
  const std::int32_t number = read_integer(dataset, "FormatType");
  if (const auto mark = read_text(dataset, "opbench_format")) return parse_format(*mark);
  const auto format = static_cast<Format>(number);
  const bool known = std::find(kAllFormats.begin(), kAllFormats.end(), format) != kAllFormats.end();
  return known ? std::optional(format) : std::nullopt;
}

void add_warning(DumpEntry& entry, const std::string& warning) {
  entry.warning += (entry.warning.empty() ? "" : "; ") + warning;
}

void describe_tensor(const H5::DataSet& dataset, DumpEntry& entry) {
  entry.kind = EntryKind::tensor;
  entry.device = static_cast<DeviceType>(read_integer(dataset, "DeviceType"));
  entry.desc = describe(read_dtype(dataset), shape_of(dataset));
  entry.format = read_format(dataset);
  entry.stride = read_integers(dataset, "Stride", entry.desc.shape.size());
  if (entry.desc.dtype == DType::fp16 && entry.device == DeviceType::cpu &&
      !dataset.attrExists("opbench_dtype")) {
    add_warning(entry, "fp16 from the CPU, which Ascend's dumper writes wrongly");
  }
  const StridedView view{entry.desc.shape, entry.stride, 0};
  if (!is_contiguous(view) && !is_permuted_dense(entry.desc.shape, entry.stride)) {
    add_warning(entry, fmt::format("Stride [{}] fits no dense tensor of shape {}, row-major is "
                                   "assumed",
                                   fmt::join(entry.stride, ", "), to_string(entry.desc.shape)));
  }
}

// The widths that the dumper uses for values that are no tensors.
DType value_dtype(const H5::DataSet& dataset, EntryKind kind) {
  const std::size_t bytes = dataset.getDataType().getSize();
  if (dataset.getTypeClass() == H5T_FLOAT && bytes == 8) return DType::fp64;
  if (dataset.getTypeClass() == H5T_FLOAT && bytes == 4) return DType::fp32;
  if (dataset.getTypeClass() == H5T_INTEGER && bytes == 8) return DType::int64;
  if (dataset.getTypeClass() == H5T_INTEGER && bytes == 4) return DType::int32;
  if (dataset.getTypeClass() == H5T_INTEGER && bytes == 1) {
    return kind == EntryKind::scalar ? DType::boolean : DType::int8;
  }
  throw Error(
      fmt::format("its type is {}, allowed are floating point of 32 or 64 bits and integer "
                  "of 8, 32 or 64 bits",
                  type_name(dataset)));
}

void describe_value(const H5::DataSet& dataset, EntryKind kind, DumpEntry& entry) {
  entry.kind = kind;
  entry.desc = describe(value_dtype(dataset, kind), shape_of(dataset));
  if (kind == EntryKind::scalar && !entry.desc.shape.empty()) {
    throw Error(fmt::format("a scalar has the extents {}", to_string(entry.desc.shape)));
  }
}

EntryKind kind_of(std::int32_t save_type) {
  switch (static_cast<SaveType>(save_type)) {
    case SaveType::tensor:
      return EntryKind::tensor;
    case SaveType::i64:
    case SaveType::boolean:
    case SaveType::real:
    case SaveType::opt_real:
    case SaveType::scalar:
    case SaveType::opt_i64:
    case SaveType::opt_scalar:
    case SaveType::size:
      return EntryKind::scalar;
    case SaveType::vec_i64:
    case SaveType::scalar_type:
    case SaveType::pair:
    case SaveType::ar_long_int:
    case SaveType::opt_memory_format:
    case SaveType::tensor_options:
      return EntryKind::other;
  }
  throw Error(fmt::format("attribute Type is {}, must be one of 0 2-7 9 10 13-18", save_type));
}

}  // namespace

void describe_dataset(const H5::DataSet& dataset, std::int64_t file_bytes, DumpEntry& entry) {
  const std::int32_t save_type = read_integer(dataset, "Type");
  const EntryKind kind = kind_of(save_type);
  if (kind == EntryKind::tensor) {
    describe_tensor(dataset, entry);
  } else {
    describe_value(dataset, kind, entry);
  }
  type_to_read(dataset, entry.desc.dtype);
  // TensorOptions are all attributes, their dataset is never filled.
  if (static_cast<SaveType>(save_type) == SaveType::tensor_options) return;
  check_data_is_inside(dataset, entry.desc.elements(), file_bytes);
}

const H5::PredType& type_to_read(const H5::DataSet& dataset, DType dtype) {
  const StoredType stored = data_type_row(dtype).stored;
  const H5T_class_t wanted = is_float(stored) ? H5T_FLOAT : H5T_INTEGER;
  const bool fits =
      dataset.getTypeClass() == wanted && dataset.getDataType().getSize() == size_of(stored);
  const bool is_unsigned =
      fits && wanted == H5T_INTEGER && dataset.getIntType().getSign() == H5T_SGN_NONE;
  // A conversion between signed and unsigned would clamp; the dumper keeps the bits.
  const bool keeps_bits = dtype == DType::uint8 || dtype == DType::boolean;
  if (fits && is_unsigned && keeps_bits) return H5::PredType::NATIVE_UINT8;
  if (fits && !is_unsigned) return memory_type(stored);
  throw Error(fmt::format("its type is {}{}, {} is stored as {} of {} bits",
                          is_unsigned ? "unsigned " : "", type_name(dataset), name(dtype),
                          name_of(wanted), 8 * size_of(stored)));
}

Dims shape_of(const H5::DataSet& dataset) {
  const H5::DataSpace space = dataset.getSpace();
  if (space.getSimpleExtentType() == H5S_NULL) throw Error("it has no extents (a null dataspace)");
  std::vector<hsize_t> extents(static_cast<std::size_t>(space.getSimpleExtentNdims()));
  if (!extents.empty()) space.getSimpleExtentDims(extents.data());
  Dims shape;
  for (const hsize_t extent : extents) {
    if (extent > static_cast<hsize_t>(INT64_MAX)) {
      throw Error(fmt::format("it has an extent of {}, at most {} is allowed", extent, INT64_MAX));
    }
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  element_count(shape);
  return shape;
}

}  // namespace opbench::hdf5
