#include "profiles/profiled_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

// Unsigned numbers without a dtype here are read as signed ones, which have the same size and cost.
constexpr std::pair<std::string_view, DType> kDTypeNames[] = {
    {"FLOAT", DType::fp32},
    {"FLOAT32", DType::fp32},
    {"FLOAT16", DType::fp16},
    {"F16", DType::fp16},
    {"BF16", DType::bf16},
    {"BFLOAT16", DType::bf16},
    {"DOUBLE", DType::fp64},
    {"INT64", DType::int64},
    {"INT32", DType::int32},
    {"INT16", DType::int16},
    {"INT8", DType::int8},
    {"UINT8", DType::uint8},
    {"BOOL", DType::boolean},
    {"INT4", DType::int4},
    {"FLOAT8_E4M3FN", DType::fp8_e4m3fn},
    {"FLOAT8_E5M2", DType::fp8_e5m2},
    {"HIFLOAT8", DType::hif8},
    {"FLOAT8_E8M0", DType::e8m0},
    {"UINT64", DType::int64},
    {"UINT32", DType::int32},
    {"UINT16", DType::int16},
};

// Numbers of aclDataType.
constexpr std::pair<int, DType> kDTypeNumbers[] = {
    {0, DType::fp32},      {1, DType::fp16},        {2, DType::int8},  {3, DType::int32},
    {4, DType::uint8},     {6, DType::int16},       {9, DType::int64}, {11, DType::fp64},
    {12, DType::boolean},  {27, DType::bf16},       {29, DType::int4}, {34, DType::hif8},
    {35, DType::fp8_e5m2}, {36, DType::fp8_e4m3fn}, {37, DType::e8m0},
};

template <class Key, std::size_t n>
std::optional<DType> find_dtype(const std::pair<Key, DType> (&table)[n], const Key& key) {
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&](const auto& entry) { return entry.first == key; });
  return found == std::end(table) ? std::nullopt : std::optional(found->second);
}

void note(ProfiledTensor& tensor, std::string problem) {
  if (tensor.problem.empty()) tensor.problem = std::move(problem);
}

void read_shape(std::string_view text, ProfiledTensor& tensor) {
  if (text.empty()) return;
  for (const std::string_view part : split(text, ',')) {
    std::int64_t extent = 0;
    const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), extent);
    if (status != std::errc{} || end != part.data() + part.size() || extent < 0) {
      return note(tensor, fmt::format("shape '{}'", printable(text)));
    }
    tensor.storage.push_back(extent);
  }
}

void read_dtype(std::string_view text, ProfiledTensor& tensor) {
  if (text.starts_with("DT_")) text.remove_prefix(3);
  tensor.is_absent = text == "UNDEFINED";
  const std::optional<DType> dtype = find_dtype(kDTypeNames, text);
  if (dtype) tensor.dtype = *dtype;
  if (!dtype) note(tensor, fmt::format("dtype {}", printable(text)));
}

// Sets the format; "NC1HWC0:1" has a code for C0 after the name, but the shape gives C0 too.
void read_format(std::string_view text, ProfiledTensor& tensor) {
  text = text.substr(0, text.find(':'));
  if (text.starts_with("FORMAT_")) text.remove_prefix(7);
  tensor.is_absent |= text == "NULL";
  const auto* found = std::find_if(kAllFormats.begin(), kAllFormats.end(),
                                   [&](Format format) { return name(format) == text; });
  if (found != kAllFormats.end()) {
    tensor.format = *found;
  } else if (text == "NCL" || text == "NC" || text.empty()) {
    tensor.format = Format::ND;
  } else {
    note(tensor, fmt::format("format {}", printable(text)));
  }
}

// Sets the logical shape of plain formats, also of those with another order than N, C, H, W.
void read_plain_shape(ProfiledTensor& tensor) {
  const Dims& s = tensor.storage;
  if (tensor.format == Format::NHWC && s.size() == 4) {
    tensor.logical = Dims{s[0], s[3], s[1], s[2]};
  } else if (tensor.format == Format::HWCN && s.size() == 4) {
    tensor.logical = Dims{s[3], s[2], s[0], s[1]};
  } else if (tensor.format == Format::NDHWC && s.size() == 5) {
    tensor.logical = Dims{s[0], s[4], s[1], s[2], s[3]};
  } else if (!is_private(tensor.format)) {
    tensor.logical = s;
  }
}

// The product of two extents fits in 63 bits.
constexpr std::int64_t kLongestExtent = std::int64_t{1} << 31;

void check_size(ProfiledTensor& tensor) {
  for (const std::int64_t extent : tensor.storage) {
    if (extent > kLongestExtent) return note(tensor, fmt::format("extent {}", extent));
  }
  try {
    element_count(tensor.storage);
  } catch (const Error& error) {
    note(tensor, error.what());
  }
}

}  // namespace

int c0_of(const ProfiledTensor& tensor) {
  constexpr std::int64_t kLargest = 64;
  if (!is_private(tensor.format) || tensor.storage.empty()) return 0;
  return static_cast<int>(std::min(tensor.storage.back(), kLargest));
}

std::vector<ProfiledTensor> tensors_of(std::string_view shapes, std::string_view dtypes,
                                       std::string_view formats) {
  std::vector<ProfiledTensor> tensors;
  if (dtypes.empty() || dtypes == "N/A") return tensors;
  const auto all_shapes = split(shapes, ';');
  const auto all_dtypes = split(dtypes, ';');
  const auto all_formats = split(formats, ';');
  for (std::size_t i = 0; i < all_shapes.size(); ++i) {
    ProfiledTensor& tensor = tensors.emplace_back();
    read_shape(all_shapes[i], tensor);
    read_dtype(i < all_dtypes.size() ? all_dtypes[i] : std::string_view("not given"), tensor);
    read_format(i < all_formats.size() ? all_formats[i] : std::string_view(), tensor);
    check_size(tensor);
    read_plain_shape(tensor);
  }
  return tensors;
}

std::vector<ProfiledTensor> tensors_of(const std::vector<LoggedTensor>& logged) {
  std::vector<ProfiledTensor> tensors;
  for (const LoggedTensor& one : logged) {
    ProfiledTensor& tensor = tensors.emplace_back();
    const std::optional<DType> dtype = find_dtype(kDTypeNumbers, one.dtype);
    if (dtype) tensor.dtype = *dtype;
    if (!dtype) note(tensor, fmt::format("dtype number {}", one.dtype));
    const int number = one.storage_format < 0 ? one.format : one.storage_format;
    constexpr int kUnset = -1;
    const auto* found = std::find(kAllFormats.begin(), kAllFormats.end(), Format(number));
    if (found != kAllFormats.end()) tensor.format = *found;
    if (found == kAllFormats.end() && number != kUnset) {
      note(tensor, fmt::format("format number {}", number));
    }
    tensor.is_absent = one.dtype == kUnset;
    tensor.storage = one.storage_format < 0 ? one.shape : one.storage_shape;
    tensor.logical = one.shape;
    const auto is_dynamic = [](std::int64_t extent) { return extent < 0; };
    if (std::any_of(one.shape.begin(), one.shape.end(), is_dynamic)) note(tensor, "dynamic shape");
    check_size(tensor);
  }
  return tensors;
}

namespace {

// True if two storages in blocks have the same plane and can have the same number of channels.
bool may_hold_the_same(const ProfiledTensor& a, const ProfiledTensor& b) {
  const bool are_blocks = a.format == Format::NC1HWC0 && b.format == Format::NC1HWC0 &&
                          a.storage.size() == 5 && b.storage.size() == 5;
  if (!are_blocks) return a.format == b.format && a.storage == b.storage;
  const auto least = [](const Dims& s) { return (s[1] - 1) * s[4] + 1; };
  const auto most = [](const Dims& s) { return s[1] * s[4]; };
  const Dims& s = a.storage;
  const Dims& t = b.storage;
  return s[0] == t[0] && s[2] == t[2] && s[3] == t[3] && least(s) <= most(t) && least(t) <= most(s);
}

bool is_same(const ProfiledTensor& a, const ProfiledTensor& b) {
  if (a.is_absent || b.is_absent) return a.is_absent == b.is_absent;
  if (!a.problem.empty() || !b.problem.empty()) {
    return a.problem == b.problem && a.storage == b.storage;
  }
  if (a.dtype != b.dtype) return false;
  if (a.logical && b.logical) return a.logical == b.logical;
  if (a.logical) return is_stored_as(*a.logical, b);
  if (b.logical) return is_stored_as(*b.logical, a);
  return may_hold_the_same(a, b);
}

bool are_same(const std::vector<ProfiledTensor>& a, const std::vector<ProfiledTensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

}  // namespace

StoredOperator::StoredOperator(const HotOperator& one)
    : kind_(fmt::format("{}\x1f{}\x1f{}", one.type.empty() ? one.name : one.type, one.input_dtypes,
                        one.output_dtypes)) {
  if (!one.has_tensors) return;
  inputs_ = tensors_of(one.input_shapes, one.input_dtypes, one.input_formats);
  outputs_ = tensors_of(one.output_shapes, one.output_dtypes, one.output_formats);
}

bool StoredOperator::is_same_as(const StoredOperator& other) const {
  const bool has_tensors = !inputs_.empty() || !outputs_.empty();
  return has_tensors && kind_ == other.kind_ && are_same(inputs_, other.inputs_) &&
         are_same(outputs_, other.outputs_);
}

std::string StoredOperator::changed_to(const StoredOperator& other) const {
  std::vector<std::string> all, places;
  const auto add = [&](const char* side, const auto& before, const auto& after) {
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      if (before[i].format == after[i].format) continue;
      all.push_back(fmt::format("{} -> {}", name(before[i].format), name(after[i].format)));
      places.push_back(fmt::format("{} {}", side, i));
    }
  };
  add("input", inputs_, other.inputs_);
  add("output", outputs_, other.outputs_);
  if (all.empty()) return {};
  if (std::all_of(all.begin(), all.end(), [&](const auto& one) { return one == all[0]; })) {
    return all[0];
  }
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", places[i], all[i]);
  }
  return text;
}

}  // namespace opbench
