#include "dump/hdf5/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dump/hdf5/c_api.h"
#include "tensor/error.h"
#include "tensor/shape.h"

namespace opbench::hdf5 {
namespace {

// Limit of the compression ratio of real data; deflate reaches at most 1032 to 1. Datasets below
// kFewElements are not checked.
constexpr std::int64_t kMostCompression = 4096, kFewElements = 1 << 22;
// Limit of elements that are only a fill value: a tiny file can declare any number.
constexpr std::int64_t kMostFilled = std::int64_t{1} << 28;
constexpr hsize_t kLargestChunk = hsize_t{1} << 28;  // bytes; HDF5 loads whole chunks

StoredType integer_type(std::size_t bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return is_signed ? StoredType::i8 : StoredType::u8;
    case 2:
      return is_signed ? StoredType::i16 : StoredType::u16;
    case 4:
      return is_signed ? StoredType::i32 : StoredType::u32;
    case 8:
      return is_signed ? StoredType::i64 : StoredType::u64;
    default:
      return StoredType::none;
  }
}

// Accepts IEEE formats only. bfloat16 and the float8 formats have other fields.
StoredType floating_type(hid_t type, std::size_t bytes) {
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  checked(H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits));
  const auto is = [&](std::size_t size, std::size_t exponents, std::size_t mantissas) {
    return bytes == size && exponent_bits == exponents && mantissa_bits == mantissas &&
           mantissa == 0 && exponent == mantissas && sign == exponents + mantissas;
  };
  if (is(2, 5, 10)) return StoredType::f16;
  if (is(4, 8, 23)) return StoredType::f32;
  if (is(8, 11, 52)) return StoredType::f64;
  return StoredType::none;
}

// True for numpy's booleans: an enumeration of FALSE = 0 and TRUE = 1 in one byte.
bool is_boolean(hid_t type) {
  if (H5Tget_size(type) != 1 || checked(H5Tget_nmembers(type)) != 2) return false;
  for (unsigned member = 0; member < 2; ++member) {
    unsigned char value = 0xff;
    checked(H5Tget_member_value(type, member, &value));
    char* name = H5Tget_member_name(type, member);
    const bool is_known = name != nullptr && std::string_view(name) == (value ? "TRUE" : "FALSE");
    H5free_memory(name);
    if (!is_known || value > 1) return false;
  }
  return true;
}

std::string_view class_name(H5T_class_t type_class) {
  switch (type_class) {
    case H5T_INTEGER:
      return "integer";
    case H5T_FLOAT:
      return "floating point";
    case H5T_STRING:
      return "string";
    case H5T_COMPOUND:
      return "compound";
    case H5T_ENUM:
      return "enumeration";
    case H5T_VLEN:
      return "variable length";
    case H5T_ARRAY:
      return "array";
    case H5T_REFERENCE:
      return "reference";
    case H5T_OPAQUE:
      return "opaque";
    case H5T_BITFIELD:
      return "bit field";
    default:
      return "time or unknown";
  }
}

// Example: ">f4". Integers of one byte have no byte order.
std::string big_endian_name(StoredType type) {
  const char kind = numpy_name(type).front();  // first letter of float, int or uint
  return fmt::format(">{}{}", kind, size_of(type));
}

StoredType type_of(hid_t type, H5T_class_t type_class, std::size_t bytes) {
  if (type_class == H5T_INTEGER) return integer_type(bytes, H5Tget_sign(type) == H5T_SGN_2);
  if (type_class == H5T_FLOAT) return floating_type(type, bytes);
  if (type_class == H5T_ENUM && is_boolean(type)) return StoredType::boolean;
  return StoredType::none;
}

// Integers may have unused bits.
bool fills_its_bytes(hid_t type, H5T_class_t type_class, std::size_t bytes) {
  return type_class == H5T_ENUM ||
         (H5Tget_precision(type) == 8 * bytes && H5Tget_offset(type) == 0);
}

// Unwritten elements are data if the fill value was chosen. Otherwise a writer aborted: Ascend's
// dumper does so for unknown dtypes.
void check_unwritten(hid_t properties, std::int64_t elements) {
  H5D_fill_value_t fill{};
  checked(H5Pfill_value_defined(properties, &fill));
  if (fill != H5D_FILL_VALUE_USER_DEFINED) throw Error("no data was written");
  if (elements > kMostFilled) {
    throw Error(
        fmt::format("{} elements are declared and only their fill value is stored; at most {} are "
                    "allowed",
                    elements, kMostFilled));
  }
}

// Checks a dataset that is not plain contiguous data.
void check_indirect(hid_t dataset, std::int64_t elements, std::size_t bytes,
                    std::int64_t file_bytes) {
  const ListHandle properties(H5Dget_create_plist(dataset));
  const H5D_layout_t layout = H5Pget_layout(properties);
  if (checked(H5Pget_external_count(properties)) > 0) {
    throw Error("its data is in an external file");
  }
  chunk_bytes(dataset);
  H5D_space_status_t status{};
  checked(H5Dget_space_status(dataset, &status));
  if (elements > 0 && status == H5D_SPACE_STATUS_NOT_ALLOCATED) {
    return check_unwritten(properties, elements);
  }
  const auto stored = static_cast<std::int64_t>(H5Dget_storage_size(dataset));
  const auto each = static_cast<std::int64_t>(bytes);
  if (elements > kFewElements && elements / kMostCompression > stored / each) {
    throw Error(fmt::format("{} elements of {} bytes are declared, {} bytes are stored", elements,
                            bytes, stored));
  }
  if (elements > 0 && layout == H5D_CONTIGUOUS) {
    throw Error(fmt::format("{} elements of {} bytes are declared, the file has {} bytes", elements,
                            bytes, file_bytes));
  }
}

}  // namespace

std::size_t chunk_bytes(hid_t dataset) {
  const ListHandle properties(H5Dget_create_plist(dataset));
  if (H5Pget_layout(properties) != H5D_CHUNKED) return 0;
  hsize_t extents[H5S_MAX_RANK];
  const int rank = checked(H5Pget_chunk(properties, H5S_MAX_RANK, extents));
  const TypeHandle type(H5Dget_type(dataset));
  hsize_t bytes = H5Tget_size(type);
  for (int axis = 0; axis < rank; ++axis) {
    if (extents[axis] > kLargestChunk) {
      throw Error(fmt::format("its chunks extend over {}", extents[axis]));
    }
    bytes *= extents[axis];  // cannot overflow: both factors are at most 2^28
    if (bytes > kLargestChunk) {
      throw Error(fmt::format("its chunks take {} bytes or more, at most {} are allowed", bytes,
                              kLargestChunk));
    }
  }
  return bytes;
}

StoredElements stored_elements(hid_t type) {
  static const hid_t common = H5T_IEEE_F32LE;  // the most frequent type, which needs one call
  if (H5Tequal(type, common) > 0) return {StoredType::f32, "float32", true};
  const H5T_class_t type_class = H5Tget_class(type);
  const std::size_t bytes = H5Tget_size(type);
  const StoredType stored = type_of(type, type_class, bytes);
  if (stored == StoredType::none || !fills_its_bytes(type, type_class, bytes)) {
    return {StoredType::none, fmt::format("{} of {} bits", class_name(type_class), 8 * bytes),
            false};
  }
  const bool is_big_endian = bytes > 1 && H5Tget_order(type) != H5T_ORDER_LE;
  return {stored, is_big_endian ? big_endian_name(stored) : std::string(numpy_name(stored)),
          !is_big_endian};
}

bool is_virtual(hid_t dataset) {
  if (H5Dget_offset(dataset) != HADDR_UNDEF) return false;
  const ListHandle properties(H5Dget_create_plist(dataset));
  return H5Pget_layout(properties) == H5D_VIRTUAL;
}

Dims extents_of(hid_t dataset) {
  const SpaceHandle space(H5Dget_space(dataset));
  hsize_t extents[H5S_MAX_RANK];
  const int rank = checked(H5Sget_simple_extent_dims(space, extents, nullptr));
  if (rank == 0 && H5Sget_simple_extent_type(space) == H5S_NULL) {
    throw Error("it has no extents (a null dataspace)");
  }
  Dims shape;
  for (int axis = 0; axis < rank; ++axis) {
    if (extents[axis] > hsize_t{INT64_MAX}) {
      throw Error(
          fmt::format("it has an extent of {}, at most {} is allowed", extents[axis], INT64_MAX));
    }
    shape.push_back(static_cast<std::int64_t>(extents[axis]));
  }
  element_count(shape);
  return shape;
}

std::int64_t place_of(hid_t dataset, std::int64_t elements, std::size_t bytes,
                      std::int64_t file_bytes) {
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) {
    check_indirect(dataset, elements, bytes, file_bytes);
    return -1;
  }
  const auto whole = static_cast<hsize_t>(file_bytes);
  const hsize_t stored = H5Dget_storage_size(dataset);
  if (static_cast<hsize_t>(elements) > whole / bytes || stored > whole || offset > whole - stored) {
    throw Error(fmt::format("{} elements of {} bytes are declared, the file has {} bytes", elements,
                            bytes, file_bytes));
  }
  if (stored != static_cast<hsize_t>(elements) * bytes) {
    throw Error(fmt::format("{} elements of {} bytes are declared, {} bytes are stored", elements,
                            bytes, stored));
  }
  return static_cast<std::int64_t>(offset);
}

}  // namespace opbench::hdf5
