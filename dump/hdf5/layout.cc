#include "dump/hdf5/layout.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace opbench::hdf5 {
namespace {

// The dumper does not support the last ones: DataType 1 alone means fp32, and 3 int8. Floating
// dtypes of one byte are stored as their values, like bf16: other readers know no codes.
constexpr std::array kDataTypes = {
    DataTypeRow{DType::fp32, 1, StoredType::f32},
    DataTypeRow{DType::uint8, 2, StoredType::i8},
    DataTypeRow{DType::int8, 3, StoredType::i8},
    DataTypeRow{DType::int16, 5, StoredType::i16},
    DataTypeRow{DType::int32, 6, StoredType::i32},
    DataTypeRow{DType::int64, 7, StoredType::i64},
    DataTypeRow{DType::boolean, 9, StoredType::i8},
    DataTypeRow{DType::fp16, 10, StoredType::f32},
    DataTypeRow{DType::fp64, 11, StoredType::f64},
    DataTypeRow{DType::bf16, 1, StoredType::f32},
    DataTypeRow{DType::fp8_e4m3fn, 1, StoredType::f32},
    DataTypeRow{DType::fp8_e5m2, 1, StoredType::f32},
    DataTypeRow{DType::hif8, 1, StoredType::f32},
    DataTypeRow{DType::e8m0, 1, StoredType::f32},
    DataTypeRow{DType::int4, 3, StoredType::i8},
};
static_assert(kDataTypes.size() == kAllDTypes.size());

// IEEE 754 half precision like in numpy and h5py. HDF5 has no predefined type.
H5::FloatType half_type() {
  H5::FloatType type(H5::PredType::NATIVE_FLOAT);
  constexpr std::size_t kSign = 15, kExponent = 10, kExponentBits = 5, kMantissaBits = 10;
  type.setFields(kSign, kExponent, kExponentBits, 0, kMantissaBits);
  type.setEbias(15);
  type.setPrecision(16);
  type.setSize(2);
  return type;
}

// Returns the largest box that starts at element `first` and has at most `limit` elements: rows
// along one axis, with all inner axes whole.
Box box_at(const Dims& shape, std::int64_t first, std::int64_t limit) {
  const std::size_t rank = shape.size();
  Box box{std::vector<hsize_t>(rank, 0), std::vector<hsize_t>(rank, 1)};
  std::int64_t inner = 1;
  bool whole = true;  // the box contains all inner axes whole
  for (std::size_t axis = rank; axis-- > 0;) {
    const std::int64_t index = first / inner % shape[axis];
    box.start[axis] = static_cast<hsize_t>(index);
    if (whole) {
      const std::int64_t rows = std::min(limit / inner, shape[axis] - index);
      box.count[axis] = static_cast<hsize_t>(rows);
      whole = rows == shape[axis];
    }
    inner *= shape[axis];
  }
  return box;
}

hsize_t elements_of(const Box& box) {
  hsize_t elements = 1;
  for (const hsize_t count : box.count) elements *= count;
  return elements;
}

// A scalar dataspace has no hyperslabs, so it is selected whole.
H5::DataSpace select(const H5::DataSet& dataset, const Box& box) {
  H5::DataSpace space = dataset.getSpace();
  if (!box.start.empty()) space.selectHyperslab(H5S_SELECT_SET, box.count.data(), box.start.data());
  return space;
}

// Dense memory of a box, with the box's shape. With another shape, HDF5 searches the place of each
// element in its chunk, which takes several times as long.
H5::DataSpace dense_space(const Box& box) {
  if (box.count.empty()) return H5::DataSpace(H5S_SCALAR);
  return H5::DataSpace(static_cast<int>(box.count.size()), box.count.data());
}

}  // namespace

const DataTypeRow& data_type_row(DType dtype) {
  return *std::find_if(kDataTypes.begin(), kDataTypes.end(),
                       [&](const DataTypeRow& row) { return row.dtype == dtype; });
}

std::optional<DataTypeRow> data_type_row(std::int32_t number) {
  for (const DataTypeRow& row : kDataTypes) {
    if (row.number == number) return row;
  }
  return std::nullopt;
}

const H5::PredType& file_type(StoredType stored) {
  switch (stored) {
    case StoredType::f32:
      return H5::PredType::IEEE_F32LE;
    case StoredType::f64:
      return H5::PredType::IEEE_F64LE;
    case StoredType::i8:
      return H5::PredType::STD_I8LE;
    case StoredType::i16:
      return H5::PredType::STD_I16LE;
    case StoredType::i32:
      return H5::PredType::STD_I32LE;
    case StoredType::i64:
      return H5::PredType::STD_I64LE;
    default:
      throw std::logic_error("the dumper does not write this type");
  }
}

const H5::DataType& memory_type(StoredType stored) {
  static const H5::FloatType half = half_type();
  switch (stored) {
    case StoredType::f16:
      return half;
    case StoredType::f32:
      return H5::PredType::NATIVE_FLOAT;
    case StoredType::f64:
      return H5::PredType::NATIVE_DOUBLE;
    case StoredType::i8:
      return H5::PredType::NATIVE_INT8;
    case StoredType::i16:
      return H5::PredType::NATIVE_INT16;
    case StoredType::i32:
      return H5::PredType::NATIVE_INT32;
    case StoredType::i64:
      return H5::PredType::NATIVE_INT64;
    case StoredType::u8:
    case StoredType::boolean:
      return H5::PredType::NATIVE_UINT8;
    case StoredType::u16:
      return H5::PredType::NATIVE_UINT16;
    case StoredType::u32:
      return H5::PredType::NATIVE_UINT32;
    case StoredType::u64:
      return H5::PredType::NATIVE_UINT64;
    case StoredType::none:
    case StoredType::bf16:
    case StoredType::c64:
    case StoredType::c128:
      break;
  }
  throw std::logic_error("elements of an unknown type have no place in memory");
}

Dims dense_strides(const Dims& shape) {
  Dims extents = shape;
  for (std::int64_t& extent : extents) extent = std::max<std::int64_t>(extent, 1);
  return row_major_strides(extents);
}

void for_each_box(const Dims& shape, ElementRange range,
                  const std::function<void(const Box&)>& use) {
  std::int64_t done = 0;
  while (done < range.count) {
    Box box = box_at(shape, range.first + done, range.count - done);
    box.offset = done;
    use(box);
    done += static_cast<std::int64_t>(elements_of(box));
  }
}

void write_range(const H5::DataSet& to, const Dims& shape, ElementRange range,
                 const H5::DataType& type, const void* from) {
  const auto* bytes = static_cast<const std::byte*>(from);
  for_each_box(shape, range, [&](const Box& box) {
    const std::size_t skipped = static_cast<std::size_t>(box.offset) * type.getSize();
    to.write(bytes + skipped, type, dense_space(box), select(to, box));
  });
}

void read_range(const H5::DataSet& from, const Dims& shape, ElementRange range,
                const H5::DataType& type, void* to) {
  auto* bytes = static_cast<std::byte*>(to);
  for_each_box(shape, range, [&](const Box& box) {
    const std::size_t skipped = static_cast<std::size_t>(box.offset) * type.getSize();
    from.read(bytes + skipped, type, dense_space(box), select(from, box));
  });
}

}  // namespace opbench::hdf5
