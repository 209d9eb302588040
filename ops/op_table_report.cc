#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "ops/op_table.h"
#include "text/fitted.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const RecordedName& name) {
  return fmt::format("{}{}{}{}{}", fmt::join(name.names, "|"), name.is_optional ? "?" : "",
                     name.new_axis.empty() ? "" : " with axis ", name.new_axis,
                     name.axes == 0 ? "" : fmt::format(" of {} axes", name.axes));
}

std::string text_of(const AttrSource& source) {
  switch (source.kind) {
    case AttrSource::constant:
      return "=" + source.constant_text;
    case AttrSource::shape:
      return "shape of " + text_of(source.from);
    case AttrSource::plane:
      return "plane of " + text_of(source.from);
    case AttrSource::whole_plane:
      return "whole plane of " + text_of(source.from);
    case AttrSource::dtype:
      return "dtype of " + text_of(source.from);
    case AttrSource::complement:
      return "1 - " + text_of(source.from);
    case AttrSource::negated:
      return "- " + text_of(source.from);
    case AttrSource::rows:
      return "rows of " + text_of(source.from);
    case AttrSource::kept:
      return fmt::format("kept shape of {} along {}", text_of(source.from), source.along);
    case AttrSource::extents:
      return fmt::format("extents of {} along {}", text_of(source.from), source.along);
    case AttrSource::borders:
      return fmt::format("borders of {} along {} from {}{}{}", text_of(source.from), source.along,
                         source.start, source.step.empty() ? "" : " by ", source.step);
    case AttrSource::recorded:
      break;
  }
  if (source.words.empty()) return text_of(source.from);
  return fmt::format("{} as {}", text_of(source.from), fmt::join(source.words, "|"));
}

std::vector<std::string> texts_of(const std::vector<RecordedName>& names) {
  std::vector<std::string> texts;
  for (const RecordedName& name : names) texts.push_back(text_of(name));
  return texts;
}

bool is_wanted(const OpRow& row, const std::vector<std::string>& only) {
  if (only.empty()) return true;
  for (const std::string& wanted : only) {
    for (const OpUse& use : row.uses) {
      if (use.op->name == wanted) return true;
    }
    for (const std::string& spelling : spellings(wanted)) {
      if (std::find(row.names.begin(), row.names.end(), spelling) != row.names.end()) return true;
    }
  }
  return false;
}

Json use_value(const OpUse& use) {
  Json value = {
      {"op", use.op->name}, {"inputs", texts_of(use.inputs)}, {"outputs", texts_of(use.outputs)}};
  if (!use.attrs.empty()) value["attrs"] = Json::object();
  for (const auto& [attr, source] : use.attrs) value["attrs"][attr] = text_of(source);
  if (!use.needs.empty()) value["needs"] = use.needs;
  return value;
}

Json row_value(const OpRow& row) {
  Json value = {{"names", row.names}};
  const bool is_random = row.drawn != Drawn::not_at_all;
  if (is_random) value["random"] = true;
  for (const RecordedCondition& condition : row.where) {
    value[condition.is_needed ? "only" : "where"][condition.name] = condition.values;
  }
  if (!row.devices.empty()) value["devices"] = row.devices;
  if (is_random) return value;
  value["parts"] = Json::array();
  for (const OpUse& use : row.uses) value["parts"].push_back(use_value(use));
  return value;
}

Json table_value(const OpTable& table, const NamePairs& pairs,
                 const std::vector<std::string>& only) {
  Json value = {{"operators", Json::array()}};
  for (const OpRow& row : table.rows()) {
    if (is_wanted(row, only)) value["operators"].push_back(row_value(row));
  }
  if (only.empty()) value["ops"] = pairs;
  return value;
}

// The dtypes and formats of the operators.
Json dtypes_value() {
  Json value = Json::object();
  for (const Op* op : RegisteredOp::all()) {
    Json& names = value[std::string(op->name)] = Json::array();
    for (const DType dtype : op->dtypes) names.push_back(name(dtype));
  }
  return value;
}

void emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    out << YAML::BeginMap;
    for (const auto& [key, of] : value.items()) {
      out << YAML::Key << key << YAML::Value;
      emit(out, of);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    const bool is_flat = value.empty() || value.front().is_primitive();
    out << (is_flat ? YAML::Flow : YAML::Block) << YAML::BeginSeq;
    for (const Json& one : value) emit(out, one);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    out << value.get<std::string>();
  } else if (value.is_boolean()) {
    out << value.get<bool>();
  } else {
    out << value.get<double>();
  }
}

}  // namespace

void print_op_table(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                    const std::vector<std::string>& only, std::size_t width) {
  // Continuation lines are indented more than the next entry.
  const auto print = [&](std::size_t indent, const std::string& text) {
    say(out, text, indent, 4, width);
  };
  for (const OpRow& row : table.rows()) {
    if (!is_wanted(row, only)) continue;
    print(0, fmt::format("{}", fmt::join(row.names, " ")));
    if (row.drawn != Drawn::not_at_all) print(2, "random");
    for (const OpUse& use : row.uses) {
      print(2, fmt::format("{}({}) -> {}", use.op->name, fmt::join(texts_of(use.inputs), ", "),
                           fmt::join(texts_of(use.outputs), ", ")));
      for (const auto& [attr, source] : use.attrs) {
        print(4, fmt::format("{}: {}", attr, text_of(source)));
      }
    }
    for (const RecordedCondition& condition : row.where) {
      print(2, fmt::format("{} {} is {}", condition.is_needed ? "only where" : "where",
                           condition.name, fmt::join(condition.values, ",")));
    }
    if (!row.devices.empty()) print(2, fmt::format("of {}", fmt::join(row.devices, ", ")));
  }
  if (!only.empty()) return;
  out << "\nNames in two dumps, as opbench compare pairs them:\n";
  for (const auto& [name, others] : pairs) {
    print(2, fmt::format("{}: {}", name, fmt::join(others, " ")));
  }
}

void write_op_table_json(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                         const std::vector<std::string>& only) {
  Json value = table_value(table, pairs, only);
  if (only.empty()) value["dtypes"] = dtypes_value();
  out << value.dump(1) << '\n';
}

void write_op_table_yaml(std::ostream& out, const OpTable& table, const NamePairs& pairs,
                         const std::vector<std::string>& only) {
  YAML::Emitter emitter;
  emit(emitter, table_value(table, pairs, only));
  out << emitter.c_str() << '\n';
}

}  // namespace opbench
