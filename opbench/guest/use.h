#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "opbench/opbench_plugin.h"

namespace opbench::guest {

/// Members keep their order: that of the operator's attributes is the order of arguments.
using Json = nlohmann::ordered_json;

/// The inputs or outputs of a use.
class TensorList {
 public:
  /// `list`: `inputs` or `outputs` of the message `open`. `memory_bytes`: end of the shared memory.
  /// Errors: throws std::runtime_error for an unknown dtype and for a tensor outside the memory.
  TensorList(const Json& list, std::size_t memory_bytes);
  TensorList(TensorList&&) = default;
  TensorList(const TensorList&) = delete;

  /// Sets the addresses, which are null before.
  void bind(std::byte* memory);

  std::vector<DLTensor> tensors;
  std::vector<const char*> formats;

 private:
  void add(const Json& tensor, std::size_t memory_bytes);

  std::vector<std::size_t> places_;
  std::vector<std::string> format_names_;
  std::vector<std::vector<std::int64_t>> shapes_, strides_;
};

/// An attribute. Its text and numbers belong to it.
struct AttrValue {
  explicit AttrValue(const std::string& attr_name, const Json& value);
  AttrValue(AttrValue&&) = default;
  AttrValue(const AttrValue&) = delete;

  /// Pointers into this object.
  OpbenchAttr view() const;

  std::string name;
  bool is_given = true;  // null otherwise
  std::int32_t kind = OPBENCH_INT;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<std::int64_t> ints;
};

/// One use of an operator: the message `open`.
struct Use {
  Use(const Json& message, std::size_t memory_bytes);

  std::string op;
  TensorList inputs, outputs;
  std::vector<AttrValue> attrs;
  std::int32_t threads = 1;
};

/// A dtype of opbench in DLPack's terms. Errors: throws std::runtime_error for an unknown name.
DLDataType dlpack_type(const std::string& dtype);

}  // namespace opbench::guest
