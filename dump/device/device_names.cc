#include "dump/device/device_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "dump/dump_types.h"
#include "tensor/buffer.h"
#include "tensor/error.h"
#include "text/input_file.h"
#include "text/output_file.h"

namespace opbench {
namespace {

struct TypeRow {
  std::int64_t number;
  std::string_view name;
  StoredType stored;  // none: not numbers, or less than a byte each
};

// OutputDataType of CANN's dump_data.proto. Quantised integers are kept as integers.
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

namespace fs = std::filesystem;

constexpr const char* kMappingFile = "mapping.csv";

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char letter : name) {
    if (letter == '.') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter >= '0' && letter <= '9'; });
}

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
    default:
      throw Error(
          fmt::format("{} has no number in device files; allowed are fp64, fp32, fp16, bf16, "
                      "int64, int32, int16, int8, uint8 and bool",
                      name(dtype)));
  }
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

bool is_device_dump_name(std::string_view name) {
  constexpr std::size_t kFewest = 4, kMost = 9;
  const std::vector<std::string> parts = parts_of(name);
  return parts.size() >= kFewest && parts.size() <= kMost && !parts[0].empty() &&
         !parts[1].empty() && std::all_of(parts.begin() + 2, parts.end(), is_number);
}

std::string short_dump_name(std::string_view name, std::string_view op_name) {
  constexpr std::size_t kParts = 5;
  std::vector<std::string> parts = parts_of(name);
  if (parts.size() != kParts) return std::string(name);
  if (const std::size_t slash = op_name.rfind('/'); slash != op_name.npos) {
    op_name.remove_prefix(slash + 1);
  } else if (op_name.empty()) {
    op_name = parts[1];
    op_name.remove_prefix(op_name.rfind('_') + 1);
  }
  std::string last(op_name);
  std::replace_if(
      last.begin(), last.end(), [](char c) { return c == '.' || c == '\\'; }, '_');
  if (last.empty() || !component_problem(last).empty()) return std::string(name);
  return fmt::format("{}.{}.{}.{}.{}", parts[0], last, parts[2], parts[3], parts[4]);
}

NameMapping read_name_mapping(const fs::path& directory) {
  NameMapping mapping;
  const fs::path file = directory / kMappingFile;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return mapping;
  constexpr std::size_t kLargest = 256 << 20;
  const std::string text = read_input_file(file.string(), "", kLargest);
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view row = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++line;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    const std::size_t comma = row.find(',');
    const std::string_view name = comma == row.npos ? "" : row.substr(comma + 1);
    if (name.empty() || name.find('/') != name.npos || name.find('\0') != name.npos) {
      throw Error(fmt::format("{}:{}: expected a file's name, a comma and the name of a dump",
                              file.string(), line));
    }
    mapping.emplace(row.substr(0, comma), name);
  }
  return mapping;
}

void add_to_name_mapping(const fs::path& directory, const NameMapping& added) {
  NameMapping mapping = read_name_mapping(directory);
  mapping.insert(added.begin(), added.end());
  OutputFile((directory / kMappingFile).string()).write([&](std::ostream& out) {
    for (const auto& [file, name] : mapping) out << file << ',' << name << '\n';
  });
}

std::string fitting_file_name(const std::string& name) {
  constexpr std::size_t kLongest = 254;
  if (name.size() <= kLongest) return name;
  std::string suffix = fs::path(name).extension().string();
  constexpr std::size_t kLongestSuffix = 10;
  if (suffix.size() > kLongestSuffix) suffix.clear();
  const std::string salted = name + '#';
  return fmt::format("{:016x}{:016x}{}", checksum(name.data(), name.size()),
                     checksum(salted.data(), salted.size()), suffix);
}

}  // namespace opbench
