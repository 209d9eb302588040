#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiles/text_profiles.h"
#include "tensor/error.h"
#include "text/json_reader.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

Json read_json(ByteWindow& bytes, const std::string& file) {
  constexpr std::size_t kLargest = std::size_t{1} << 30;
  while (bytes.more()) {
    if (bytes.text().size() > kLargest) throw Error(fmt::format("{}: larger than 1 GiB", file));
  }
  return parse_json(std::string(bytes.text().begin(), bytes.text().end()), file);
}

// A dtype such as "torch.float16", in the spelling of tables of tasks.
std::string framework_dtype(std::string type) {
  for (const std::string begin : {"torch.", "mindspore."}) {
    if (type.starts_with(begin)) type.erase(0, begin.size());
  }
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  if (type == "FLOAT32") return "FLOAT";
  if (type == "FLOAT64") return "DOUBLE";
  return type == "BFLOAT16" ? "BF16" : type;
}

/// Inputs of a call, in the format of traces.
struct CallInputs {
  Json dims = Json::array(), types = Json::array(), values = Json::array();

  void add(const Json& value, int depth) {
    constexpr int kDeepest = 16;
    if (depth > kDeepest) return;
    if (value.is_array()) {
      for (const Json& one : value) add(one, depth + 1);
      return;
    }
    if (!value.is_object()) return;
    const std::string type = text_member(value, "type");
    const bool is_tensor = type.find("Tensor") != type.npos && value.contains("shape");
    if (type.empty()) {
      for (const auto& [key, one] : value.items()) add(one, depth + 1);
      return;
    }
    dims.push_back(is_tensor && value["shape"].is_array() ? value["shape"] : Json::array());
    types.push_back(is_tensor ? framework_dtype(text_member(value, "dtype")) : "Scalar");
    const bool has_value = !is_tensor && value.contains("value");
    values.push_back(has_value ? value["value"].dump() : std::string());
  }
};

// The name of a call without its number: "Tensor.__mul__.7.forward". Modules such as
// "Module.layers.0.norm.RMSNorm.forward.7" are named by their class.
std::string call_name(const std::string& api) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= api.size();) {
    const std::size_t end = std::min(api.find('.', at), api.size());
    parts.push_back(api.substr(at, end - at));
    at = end + 1;
  }
  const auto is_number = [](const std::string& part) {
    return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
  };
  const bool is_module = parts[0] == "Module" || parts[0] == "Cell";
  if (is_module && parts.size() >= 4 && is_number(parts.back())) {
    return fmt::format("{}.{}.{}", parts[0], parts[parts.size() - 3], parts[parts.size() - 2]);
  }
  if (parts.size() >= 3 && is_number(parts[parts.size() - 2])) parts.erase(parts.end() - 2);
  std::string name;
  for (const std::string& part : parts) name += (name.empty() ? "" : ".") + part;
  return name;
}

// The time under `key` in picoseconds; empty if the record has no such time.
std::optional<std::int64_t> total_picoseconds(const Json& record, const char* key,
                                              std::int64_t count) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_number()) return std::nullopt;
  const double time = found->get<double>() * 1e6 * static_cast<double>(count);
  constexpr double kMost = 9e18;
  return time >= 0 && time < kMost ? std::optional(static_cast<std::int64_t>(time)) : std::nullopt;
}

}  // namespace

std::int64_t read_msprobe_calls(ByteWindow& bytes, const std::string& file, TraceProfile& calls) {
  const Json json = read_json(bytes, file);
  const auto data = json.find("data");
  if (data == json.end() || !data->is_object()) {
    throw Error(fmt::format("{}: not a dump.json of msprobe: it has no object 'data'", file));
  }
  std::int64_t count = 0;
  for (const auto& [api, call] : data->items()) {
    CallInputs inputs;
    if (!call.is_object()) continue;
    for (const auto& [key, value] : call.items()) {
      if (key.starts_with("input")) inputs.add(value, 0);
    }
    const std::string name = call_name(api), dims = inputs.dims.dump();
    const std::string types = inputs.types.dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::string values = inputs.values.dump(-1, ' ', false, Json::error_handler_t::replace);
    TraceEvent event;
    event.name = name;
    event.input_dims = dims;
    event.input_types = types;
    event.concrete_inputs = values;
    ++calls.operators()[calls.operator_of(event, file, ++count)].calls;
    ++calls.host_operators;
    calls.host_operators_with_shapes += inputs.dims.empty() ? 0 : 1;
  }
  return count;
}

std::int64_t read_own_results(ByteWindow& bytes, const std::string& file, HotSpots& spots) {
  const Json json = read_json(bytes, file);
  const auto records = json.find("records");
  if (records == json.end() || !records->is_array()) {
    throw Error(fmt::format("{}: not results of opbench: it has no list 'records'", file));
  }
  std::int64_t rows = 0, place = 0;
  for (const Json& record : *records) {
    ++place;
    if (!record.is_object()) continue;
    const auto found = record.find("count");
    constexpr std::int64_t kMost = 1'000'000'000;
    const bool has_count = found != record.end() && found->is_number_integer();
    const std::int64_t count =
        has_count ? std::clamp<std::int64_t>(found->get<std::int64_t>(), 1, kMost) : 1;
    const auto total = total_picoseconds(record, "median_us", count);
    if (!total) continue;
    const std::string name = text_member(record, "case"), op = text_member(record, "op");
    const std::string variant = text_member(record, "variant");
    const std::string dtype = text_member(record, "dtype"), format = text_member(record, "format");
    std::string shape = text_member(record, "shape");
    std::replace(shape.begin(), shape.end(), 'x', ',');
    DeviceTask task;
    task.name = name;
    task.type = op;
    task.core = variant;
    task.count = count;
    task.duration_ps = *total;
    task.duration_digits = kMicroToPico;
    task.least_ps = total_picoseconds(record, "min_us", 1);
    task.most_ps = total_picoseconds(record, "median_us", 1);
    task.has_tensors = !shape.empty();
    task.inputs = {shape, dtype, format};
    task.file = file;
    task.line = place;
    spots.add(task);
    ++rows;
  }
  return rows;
}

}  // namespace opbench
