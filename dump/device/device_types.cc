#include "dump/device/device_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tensor/error.h"

namespace opbench {
namespace {

struct TypeRow {
  std::int64_t number;
  std::string_view name;
  StoredType stored;  // none: no numbers, or no whole bytes
};

// OutputDataType of CANN's dump_data.proto; quantised integers are kept as integers.
constexpr std::array kTypes = {
    TypeRow{0, "UNDEFINED", StoredType::i8},   TypeRow{1, "FLOAT", StoredType::f32},
    TypeRow{2, "FLOAT16", StoredType::f16},    TypeRow{3, "INT8", StoredType::i8},
    TypeRow{4, "UINT8", StoredType::u8},       TypeRow{5, "INT16", StoredType::i16},
    TypeRow{6, "UINT16", StoredType::u16},     TypeRow{7, "INT32", StoredType::i32},
    TypeRow{8, "INT64", StoredType::i64},      TypeRow{9, "UINT32", StoredType::u32},
    TypeRow{10, "UINT64", StoredType::u64},    TypeRow{11, "BOOL", StoredType::boolean},
    TypeRow{12, "DOUBLE", StoredType::f64},    TypeRow{13, "STRING", StoredType::none},
    TypeRow{16, "COMPLEX64", StoredType::c64}, TypeRow{17, "COMPLEX128", StoredType::c128},
    TypeRow{18, "QINT8", StoredType::i8},      TypeRow{23, "RESOURCE", StoredType::i64},
    TypeRow{27, "BF16", StoredType::bf16},     TypeRow{29, "UINT1", StoredType::none},
};

struct FormatRow {
  std::int64_t number;
  std::string_view name;
};

constexpr std::array kFormats = {
    FormatRow{0, "NCHW"},
    FormatRow{1, "NHWC"},
    FormatRow{2, "ND"},
    FormatRow{3, "NC1HWC0"},
    FormatRow{4, "FRACTAL_Z"},
    FormatRow{5, "NC1C0HWPAD"},
    FormatRow{6, "NHWC1C0"},
    FormatRow{12, "NC1HWC0_C04"},
    FormatRow{13, "FRACTAL_Z_C04"},
    FormatRow{14, "CHWN"},
    FormatRow{16, "HWCN"},
    FormatRow{27, "NDHWC"},
    FormatRow{28, "FRACTAL_ZZ"},
    FormatRow{29, "FRACTAL_NZ"},
    FormatRow{30, "NCDHW"},
    FormatRow{31, "DHWCN"},
    FormatRow{32, "NDC1HWC0"},
    FormatRow{33, "FRACTAL_Z_3D"},
    FormatRow{34, "CN"},
    FormatRow{35, "NC"},
    FormatRow{36, "DHWNC"},
    FormatRow{37, "FRACTAL_Z_3D_TRANSPOSE"},
    FormatRow{38, "FRACTAL_ZN_LSTM"},
    FormatRow{39, "FRACTAL_Z_G"},
    FormatRow{40, "RESERVED"},
    FormatRow{41, "ALL"},
    FormatRow{42, "NULL"},
    FormatRow{43, "ND_RNN_BIAS"},
    FormatRow{44, "FRACTAL_ZN_RNN"},
    FormatRow{45, "YUV"},
    FormatRow{46, "YUV_A"},
};

}  // namespace

StoredType device_stored_type(std::int64_t data_type) {
  std::vector<std::string> allowed;
  std::string_view found = "unknown";
  for (const TypeRow& row : kTypes) {
    if (row.number == data_type && row.stored != StoredType::none) return row.stored;
    if (row.number == data_type) found = row.name;
    if (row.stored != StoredType::none) {
      allowed.push_back(fmt::format("{} {}", row.number, row.name));
    }
  }
  throw Error(fmt::format("data_type: found {} ({}); allowed are {}", data_type, found,
                          fmt::join(allowed, ", ")));
}

std::int64_t device_data_type(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 12;
    case DType::fp32:
      return 1;
    case DType::fp16:
      return 2;
    case DType::bf16:
      return 27;
    case DType::int64:
      return 8;
    case DType::int32:
      return 7;
    case DType::int16:
      return 5;
    case DType::int8:
      return 3;
    case DType::uint8:
      return 4;
    case DType::boolean:
      return 11;
  }
  return 0;
}

std::string device_format_name(std::int64_t format) {
  for (const FormatRow& row : kFormats) {
    if (row.number == format) return std::string(row.name);
  }
  return fmt::format("FORMAT_{}", format);
}

std::int64_t device_format_number(std::string_view name) {
  std::vector<std::string> names;
  for (const FormatRow& row : kFormats) {
    if (row.name == name) return row.number;
    names.emplace_back(row.name);
  }
  throw Error(fmt::format("unknown format '{}'{}", name, suggestion(std::string(name), names)));
}

std::optional<Format> device_format(std::int64_t format) {
  const auto found = std::find_if(kAllFormats.begin(), kAllFormats.end(), [&](Format known) {
    return static_cast<std::int64_t>(known) == format;
  });
  return found == kAllFormats.end() ? std::nullopt : std::optional(*found);
}

}  // namespace opbench
