#include "opbench/guest/use.h"

#include <limits>
#include <stdexcept>
#include <utility>

namespace opbench::guest {
namespace {

struct NamedType {
  const char* name;
  DLDataType type;
};

constexpr NamedType kTypes[] = {
    {"fp64", {2, 64, 1}},     {"fp32", {2, 32, 1}},  {"fp16", {2, 16, 1}},
    {"bf16", {4, 16, 1}},     {"int64", {0, 64, 1}}, {"int32", {0, 32, 1}},
    {"int16", {0, 16, 1}},    {"int8", {0, 8, 1}},   {"uint8", {1, 8, 1}},
    {"bool", {6, 8, 1}},      {"int4", {0, 4, 1}},   {"fp8_e4m3fn", {10, 8, 1}},
    {"fp8_e5m2", {12, 8, 1}}, {"hif8", {3, 8, 1}},   {"e8m0", {14, 8, 1}},
};

std::size_t bytes_of(const DLTensor& tensor) {
  return std::size_t(opbench_elements(&tensor)) * ((tensor.dtype.bits + 7U) / 8);
}

/// Numbers that JSON does not have are texts.
bool read_special_number(const std::string& text, double& number) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == "inf") number = infinity;
  if (text == "-inf") number = -infinity;
  if (text == "nan") number = std::numeric_limits<double>::quiet_NaN();
  return text == "inf" || text == "-inf" || text == "nan";
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::vector<AttrValue> attrs_of(const Json& attrs) {
  std::vector<AttrValue> values;
  for (const auto& [name, value] : attrs.items()) values.emplace_back(name, value);
  return values;
}

}  // namespace

DLDataType dlpack_type(const std::string& dtype) {
  std::string names;
  for (const NamedType& one : kTypes) {
    if (dtype == one.name) return one.type;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw std::runtime_error("dtype '" + dtype + "' is unknown; one of " + names);
}

TensorList::TensorList(const Json& list, std::size_t memory_bytes) {
  // The pointers of the tensors require that nothing moves.
  shapes_.reserve(list.size());
  strides_.reserve(list.size());
  format_names_.reserve(list.size());
  for (const Json& tensor : list) add(tensor, memory_bytes);
}

void TensorList::add(const Json& tensor, std::size_t memory_bytes) {
  shapes_.push_back(tensor.at("storage").get<std::vector<std::int64_t>>());
  strides_.push_back(row_major(shapes_.back()));
  format_names_.push_back(tensor.at("format").get<std::string>());
  formats.push_back(format_names_.back().c_str());
  places_.push_back(tensor.at("at").get<std::size_t>());
  DLTensor added = {};
  added.device = {1, 0};
  added.dtype = dlpack_type(tensor.at("dtype").get<std::string>());
  added.ndim = std::int32_t(shapes_.back().size());
  added.shape = shapes_.back().data();
  added.strides = strides_.back().data();
  if (places_.back() + bytes_of(added) > memory_bytes)
    throw std::runtime_error("tensor " + tensor.value("name", std::string()) +
                             " ends after the shared memory");
  tensors.push_back(added);
}

void TensorList::bind(std::byte* memory) {
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].data = memory + places_[i];
}

AttrValue::AttrValue(const std::string& attr_name, const Json& value) : name(attr_name) {
  if (value.is_null()) {
    is_given = false;
  } else if (value.is_boolean()) {
    kind = OPBENCH_BOOL;
    integer = value.get<bool>();
  } else if (value.is_number_integer()) {
    integer = value.get<std::int64_t>();
    number = double(integer);
  } else if (value.is_number()) {
    kind = OPBENCH_FLOAT;
    number = value.get<double>();
  } else if (value.is_array()) {
    kind = OPBENCH_INTS;
    ints = value.get<std::vector<std::int64_t>>();
  } else {
    text = value.get<std::string>();
    kind = read_special_number(text, number) ? OPBENCH_FLOAT : OPBENCH_TEXT;
  }
}

OpbenchAttr AttrValue::view() const {
  return {name.c_str(), kind, integer, number, text.c_str(), ints.data(), ints.size()};
}

Use::Use(const Json& message, std::size_t memory_bytes)
    : op(message.at("op").get<std::string>()),
      inputs(message.at("inputs"), memory_bytes),
      outputs(message.at("outputs"), memory_bytes),
      attrs(attrs_of(message.at("attrs"))),
      threads(message.value("threads", 1)) {}

}  // namespace opbench::guest
