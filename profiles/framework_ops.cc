#include "profiles/framework_ops.h"

#include <nlohmann/json.hpp>

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostOps = 500'000;

std::string text_of(const Json& tensor, const char* key) {
  const auto found = tensor.find(key);
  return found != tensor.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// NUMBER_TYPE_FLOAT16; UNKNOWN where the compiler has not said.
std::string dtype_of(const std::string& type) {
  constexpr std::string_view kBegin = "NUMBER_TYPE_";
  if (type.starts_with(kBegin)) return type.substr(kBegin.size());
  return type == "UNKNOWN" ? "UNDEFINED" : type;
}

struct Side {
  std::string &shapes, &dtypes, &formats;
};

void append(const Json& tensor, bool is_first, Side side) {
  const std::string between = is_first ? "" : ";";
  side.shapes += between + text_of(tensor, "shape");
  side.dtypes += between + dtype_of(text_of(tensor, "data_type"));
  side.formats += between + text_of(tensor, "format");
}

}  // namespace

bool FrameworkOps::add(std::string_view name, std::string_view type, std::string_view blocks,
                       std::string_view op_info) {
  if (ops_.size() >= kMostOps) return true;
  Op& op = ops_[std::string(name)];
  op = {};
  op.type = type;
  if (const auto dim = parse_decimal(blocks, 0)) op.blocks = dim->units;
  const Json info = Json::parse(op_info, nullptr, false);
  if (!info.is_object()) return op_info.empty();
  int inputs = 0, outputs = 0;
  for (const auto& [key, tensor] : info.items()) {
    if (!tensor.is_object()) continue;
    if (key.starts_with("input_")) {
      append(tensor, inputs++ == 0, {op.input_shapes, op.input_dtypes, op.input_formats});
    } else if (key.starts_with("output_")) {
      append(tensor, outputs++ == 0, {op.output_shapes, op.output_dtypes, op.output_formats});
    }
  }
  op.has_tensors = inputs + outputs > 0;
  return true;
}

const FrameworkOps::Op* FrameworkOps::find(std::string_view name) const {
  const auto found = ops_.find(std::string(name));
  return found == ops_.end() ? nullptr : &found->second;
}

void describe_task(const FrameworkOps::Op& op, DeviceTask& task) {
  task.type = op.type;
  task.blocks = op.blocks;
  task.has_tensors = op.has_tensors;
  task.inputs = {op.input_shapes, op.input_dtypes, op.input_formats};
  task.outputs = {op.output_shapes, op.output_dtypes, op.output_formats};
}

}  // namespace opbench
