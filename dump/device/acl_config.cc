#include "dump/device/acl_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/input_file.h"
#include "text/json_reader.h"

namespace opbench {
namespace {

constexpr std::array<std::pair<std::string_view, AclDumpMode>, 3> kModes = {
    {{"output", AclDumpMode::output}, {"input", AclDumpMode::input}, {"all", AclDumpMode::all}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kSwitches = {
    {{"off", false}, {"on", true}}};

template <class Meaning, std::size_t N>
Meaning word_of(const JsonValue& value,
                const std::array<std::pair<std::string_view, Meaning>, N>& words) {
  const std::string text = value.text();
  std::vector<std::string_view> allowed;
  for (const auto& [word, meaning] : words) {
    if (text == word) return meaning;
    allowed.push_back(word);
  }
  value.fail(fmt::format("is '{}'; allowed are {}", text, fmt::join(allowed, ", ")));
}

std::string filled_text(const JsonValue& value) {
  std::string text = value.text();
  if (text.empty() || text.find('\0') != text.npos) value.fail("is empty or holds NUL");
  return text;
}

AclModel read_model(const JsonValue& value) {
  AclModel model;
  value.members([&](const std::string& key, const JsonValue& member) {
    if (key == "model_name") {
      model.name = filled_text(member);
    } else if (key == "layer") {
      member.elements([&](const JsonValue& layer) { model.layers.push_back(filled_text(layer)); });
    } else {
      member.fail("is not supported; allowed are model_name, layer");
    }
  });
  if (model.name.empty() && !model.layers.empty())
    value.fail("has a layer, which needs a model_name");
  return model;
}

void read_field(const std::string& key, const JsonValue& value, AclConfig& config) {
  if (key == "dump_path") {
    config.path = filled_text(value);
  } else if (key == "dump_mode") {
    config.mode = word_of(value, kModes);
  } else if (key == "dump_op_switch") {
    config.dumps_operators = word_of(value, kSwitches);
  } else if (key == "dump_list") {
    value.elements([&](const JsonValue& model) { config.models.push_back(read_model(model)); });
  } else {
    value.fail("is not supported; allowed are dump_list, dump_path, dump_mode, dump_op_switch");
  }
}

}  // namespace

const AclModel* AclConfig::find(std::string_view model) const {
  static const AclModel every;
  if (models.empty()) return &every;
  const auto found = std::find_if(models.begin(), models.end(), [&](const AclModel& listed) {
    return listed.name.empty() || listed.name == model;
  });
  return found == models.end() ? nullptr : &*found;
}

AclConfig read_acl_config(const std::string& file) {
  const nlohmann::ordered_json json = parse_json(read_input_file(file, ""), file);
  AclConfig config;
  config.file = file;
  const JsonValue document(json, file);
  const JsonValue dump = document.member("dump");
  dump.members(
      [&](const std::string& key, const JsonValue& value) { read_field(key, value, config); });
  dump.member("dump_path");
  return config;
}

void require_dumped(const AclConfig& config, bool has_operators,
                    const std::vector<std::string>& models) {
  for (const AclModel& model : config.models) {
    if (model.name.empty() || std::find(models.begin(), models.end(), model.name) != models.end()) {
      continue;
    }
    throw Error(fmt::format("{}: dump.dump_list: no context '{}' is selected{}", config.file,
                            printable(model.name), suggestion(model.name, models)));
  }
  if (has_operators && config.dumps_operators) return;
  if (!models.empty())
    return;  // a list that is not empty names at least one of the models, or selects all
  throw Error(fmt::format(
      "{}: dump.dump_op_switch is off, and only single operators are selected; \"on\" dumps them",
      config.file));
}

}  // namespace opbench
