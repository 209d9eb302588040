#include "ops/op_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "opbench_op_table.h"
#include "tensor/error.h"
#include "text/input_file.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

RecordedName parse_recorded_name(std::string text) {
  RecordedName name;
  for (std::size_t start = 0; start <= text.size() && !text.empty();) {
    const std::size_t bar = std::min(text.find('|', start), text.size());
    std::string one = text.substr(start, bar - start);
    if (one.ends_with('?')) {
      one.pop_back();
      name.is_optional = true;
    }
    name.names.push_back(std::move(one));
    start = bar + 1;
  }
  return name;
}

std::vector<std::string> texts(const YamlValue& value, std::string_view what) {
  std::vector<std::string> all;
  for (const YamlValue& one : value.list(what, true)) all.push_back(one.text(what));
  return all;
}

std::vector<RecordedName> recorded_names(const YamlValue& value, std::string_view what) {
  std::vector<RecordedName> all;
  for (const std::string& one : texts(value, what)) all.push_back(parse_recorded_name(one));
  return all;
}

AttrSource parse_source(const std::string& text) {
  constexpr std::pair<std::string_view, AttrSource::Kind> kPrefixes[] = {
      {"shape of ", AttrSource::shape},
      {"plane of ", AttrSource::plane},
      {"dtype of ", AttrSource::dtype},
      {"1 - ", AttrSource::complement}};
  if (text.starts_with('=')) return {AttrSource::constant, {}, text.substr(1)};
  for (const auto& [prefix, kind] : kPrefixes) {
    if (text.starts_with(prefix))
      return {kind, parse_recorded_name(text.substr(prefix.size())), {}};
  }
  constexpr std::string_view kAs = " as ";
  const std::size_t as = text.find(kAs);
  AttrSource source{AttrSource::recorded, parse_recorded_name(text.substr(0, as)), {}};
  if (as != std::string::npos) {
    source.words = parse_recorded_name(text.substr(as + kAs.size())).names;
  }
  return source;
}

const AttrSpec* attribute(const Op& op, std::string_view name) {
  const auto found = std::find_if(op.attrs.begin(), op.attrs.end(),
                                  [&](const AttrSpec& spec) { return spec.name == name; });
  return found == op.attrs.end() ? nullptr : &*found;
}

void read_attrs(const YamlValue& value, OpUse& use) {
  value.mapping("attrs", [&](const std::string& name, const YamlValue& source) {
    if (attribute(*use.op, name) == nullptr) {
      source.fail(fmt::format("{} has no attribute '{}'", use.op->name, name));
    }
    use.attrs.emplace_back(name, parse_source(source.text("the source of an attribute")));
  });
}

const std::vector<std::string> kUseKeys = {"op", "inputs", "outputs", "attrs", "needs"};

// The operator comes first: what else there is depends on it.
void read_use_key(const std::string& key, const YamlValue& value, OpUse& use) {
  if (key == "op") {
    use.op = value.located([&] { return &find_op(value.text("op")); });
  } else if (use.op == nullptr) {
    value.fail(fmt::format("'{}' stands before 'op'", key));
  } else if (key == "inputs") {
    use.inputs = recorded_names(value, "an input");
  } else if (key == "outputs") {
    use.outputs = recorded_names(value, "an output");
  } else if (key == "attrs") {
    read_attrs(value, use);
  } else {
    use.needs = texts(value, "an attribute");
  }
}

void check_use(const OpUse& use, const YamlValue& place) {
  if (use.op == nullptr) place.fail("there is no 'op'");
  if (use.inputs.empty()) place.fail("there are no 'inputs'");
  if (use.outputs.empty()) place.fail("there are no 'outputs'");
}

void read_conditions(const std::string& key, const YamlValue& value, OpRow& row) {
  value.mapping(key, [&](const std::string& name, const YamlValue& wanted) {
    RecordedCondition condition{name, {}, key == "only"};
    for (const YamlValue& one : wanted.list("a number", true)) {
      condition.values.push_back(one.number("a number", -1e300, 1e300));
    }
    row.where.push_back(std::move(condition));
  });
}

OpRow read_row(const YamlValue& value) {
  OpRow row;
  row.place = value.place();
  OpUse single;
  std::vector<std::string> keys = kUseKeys;
  keys.insert(keys.end(), {"names", "parts", "where", "only", "devices", "random"});
  value.mapping("a row", keys, [&](const std::string& key, const YamlValue& of) {
    if (key == "names") {
      row.names = texts(of, "a name");
    } else if (key == "where" || key == "only") {
      read_conditions(key, of, row);
    } else if (key == "devices") {
      row.devices = texts(of, "a device");
    } else if (key == "random") {
      row.is_random = of.boolean("random");
    } else if (key == "parts") {
      for (const YamlValue& part : of.list("parts")) {
        OpUse use;
        part.mapping("a part", kUseKeys,
                     [&](const std::string& k, const YamlValue& v) { read_use_key(k, v, use); });
        check_use(use, part);
        row.uses.push_back(std::move(use));
      }
    } else {
      read_use_key(key, of, single);
    }
  });
  if (row.names.empty()) value.fail("a row needs 'names'");
  if (row.is_random || !row.uses.empty()) return row;
  check_use(single, value);
  row.uses.push_back(std::move(single));
  return row;
}

std::vector<OpRow> read_rows(const std::string& text, const std::string& path) {
  std::vector<OpRow> rows;
  parse_yaml(text, path)
      .mapping("an operator table", {"operators", "ops", "params"},
               [&](const std::string& key, const YamlValue& value) {
                 if (key != "operators") return;
                 for (const YamlValue& row : value.list("operators")) rows.push_back(read_row(row));
               });
  return rows;
}

std::string without_overload(std::string name) {
  const auto underscore = name.find('_', 1);
  for (auto at = underscore; at != std::string::npos; at = name.find('_', at + 1)) {
    const bool is_overload =
        at + 1 < name.size() && std::isupper(static_cast<unsigned char>(name[at + 1]));
    if (is_overload) return name.substr(0, at);
  }
  return name;
}

std::string without_digits(std::string name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) name.pop_back();
  return name;
}

}  // namespace

std::vector<std::string> spellings(std::string_view recorded_op) {
  std::vector<std::string> all;
  const auto add = [&](std::string name) {
    if (!name.empty() && std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  };
  std::string name(recorded_op);
  add(name);
  if (const auto colons = name.rfind("::"); colons != std::string::npos) name.erase(0, colons + 2);
  std::replace(name.begin(), name.end(), '.', '_');
  add(name);
  // In place: "add__Tensor", "relu_".
  if (const auto twice = name.find("__", 1); twice != std::string::npos) name.erase(twice, 1);
  if (name.ends_with('_')) name.pop_back();
  add(name);
  const bool is_backward = name.find("Backward") != std::string::npos;
  add(is_backward ? without_digits(name) : without_overload(name));
  return all;
}

const OpTable& OpTable::builtin() {
  static const OpTable table = [] {
    OpTable read;
    read.rows_ = read_rows(kOpTableYaml, "op_table.yaml");
    return read;
  }();
  return table;
}

OpTable OpTable::parse(const std::string& text, const std::string& path) {
  OpTable table;
  table.rows_ = read_rows(text, path);
  const std::vector<OpRow>& more = builtin().rows_;
  table.rows_.insert(table.rows_.end(), more.begin(), more.end());
  return table;
}

OpTable OpTable::load(const std::string& path) {
  return parse(read_input_file(path, "operator table"), path);
}

std::vector<const OpRow*> OpTable::find(std::string_view recorded_op) const {
  for (const std::string& spelling : spellings(recorded_op)) {
    std::vector<const OpRow*> found;
    for (const OpRow& row : rows_) {
      if (std::find(row.names.begin(), row.names.end(), spelling) != row.names.end()) {
        found.push_back(&row);
      }
    }
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace opbench
