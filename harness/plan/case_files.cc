#include "harness/plan/case_files.h"

#include <fmt/format.h>

#include "harness/plan/case_places.h"
#include "harness/plan/context_reader.h"
#include "tensor/error.h"
#include "text/input_file.h"
#include "text/yaml_reader.h"

namespace opbench {

namespace {

constexpr int kLargestCount = 1000000000;
constexpr double kLargestWeight = 1e15;  // microseconds: 30 years

/// Reads one document. Holds the data that its sections share.
class Reader {
 public:
  Reader(const YamlValue& root, std::string path, const Symbols& overrides,
         const ContextLimits& limits)
      : root_(root), overrides_(overrides), budget_(limits) {
    file_.path = std::move(path);
  }

  CaseFile read() {
    const std::vector<std::string> keys = {"symbols", "dtypes", "formats", "shapes",
                                           "cases",   "blocks", "contexts"};
    // Symbols are read first, because the shapes use them.
    root_.mapping("the case file", keys, [&](const std::string& key, const YamlValue& value) {
      if (key == "symbols") symbols_ = read_symbols(value);
    });
    apply_overrides();
    root_.mapping("the case file", keys, [&](const std::string& key, const YamlValue& value) {
      if (key == "dtypes") file_.dtypes = read_dtypes(value);
      if (key == "formats") file_.formats = read_formats(value);
      if (key == "shapes") read_shapes(value);
      if (key == "cases") read_cases(value);
      if (key == "blocks") blocks_ = graphs_.read_blocks(value);
    });
    // Contexts are read last, because they include blocks and adopt the file's dtypes.
    root_.mapping("the case file", keys, [&](const std::string& key, const YamlValue& value) {
      if (key != "contexts") return;
      file_.contexts = read_contexts(value, {symbols_, file_.dtypes, blocks_}, graphs_, budget_);
    });
    return std::move(file_);
  }

 private:
  void apply_overrides() {
    std::vector<std::string> declared;
    for (const auto& [name, value] : symbols_) declared.push_back(name);
    for (const auto& [name, value] : overrides_) {
      if (!symbols_.contains(name)) {
        throw Error(fmt::format("{}: --set {}={}: the file has no symbol '{}'{}", file_.path, name,
                                value, name,
                                declared.empty() ? "; it has none" : suggestion(name, declared)));
      }
      symbols_[name] = value;
    }
  }

  void read_shapes(const YamlValue& value) {
    for (const YamlValue& entry : value.list("shapes")) {
      NamedShape named;
      named.origin = entry.place();
      if (entry.is_list()) {
        named.shape = read_shape(entry, symbols_);
      } else {
        bool has_shape = false;
        entry.mapping("a shape", {"name", "shape", "count"},
                      [&](const std::string& key, const YamlValue& field) {
                        if (key == "name") named.name = field.text("name");
                        if (key == "count") named.count = count(field);
                        if (key == "shape")
                          named.shape = read_shape(field, symbols_), has_shape = true;
                      });
        if (!has_shape) entry.fail("the entry has no 'shape'");
      }
      file_.shapes.push_back(std::move(named));
    }
  }

  int count(const YamlValue& value) const {
    return static_cast<int>(value.integer("count", 1, kLargestCount));
  }

  void read_cases(const YamlValue& value) {
    for (const YamlValue& entry : value.list("cases")) read_case(entry);
  }

  void read_case(const YamlValue& entry) {
    CaseTemplate result;
    Case& c = result.base;
    c.origin = entry.place();
    const std::vector<std::string> keys = {
        "name",  "op",     "inputs",  "attrs",     "variants", "data",   "backward",
        "count", "dtypes", "formats", "threshold", "expect",   "reason", "weight_us"};
    bool has_inputs = false;
    std::optional<ExpectedFailure> expected;
    std::string reason;
    // The operator is read first, because the attributes depend on it.
    entry.mapping("a case", keys, [&](const std::string& key, const YamlValue& field) {
      if (key == "op") c.op = field.located([&] { return &find_op(field.text("op")); });
    });
    if (c.op == nullptr) entry.fail("the case has no 'op'");
    c.attrs = Attrs(c.op->attrs);
    entry.mapping("a case", keys, [&](const std::string& key, const YamlValue& field) {
      if (key == "name") c.name = field.text("name");
      if (key == "count") c.count = count(field);
      if (key == "weight_us") c.weight_us = field.number("weight_us", 0, kLargestWeight);
      if (key == "threshold") c.threshold = field.number("threshold", 0.1, 1000) / 100;
      if (key == "backward") c.backward = field.boolean("backward");
      if (key == "data") c.data = data(field);
      if (key == "dtypes") result.dtypes = read_dtypes(field);
      if (key == "formats") result.formats = read_formats(field);
      if (key == "attrs") read_attrs(c, field);
      if (key == "variants") c.variants = read_variants(field);
      if (key == "expect") expected = read_expectation(field);
      if (key == "reason") reason = field.text("reason");
      if (key == "inputs") {
        has_inputs = true;
        for (const YamlValue& tensor : field.list("inputs")) c.inputs.push_back(input(tensor));
      }
    });
    if (!has_inputs) entry.fail("the case has no 'inputs'");
    if (expected.has_value() == reason.empty()) {
      entry.fail(expected ? "what is expected to fail needs a 'reason'"
                          : "'reason' is for 'expect: failed', and the case has no 'expect'");
    }
    if (expected) expected->reason = reason;
    c.expected_failure = std::move(expected);
    entry.located([&] { check_input_count(*c.op, c.inputs.size()); });
    file_.cases.push_back(std::move(result));
  }

  // Reads a shape, or a mapping with the input's own dtype and data.
  CaseInput input(const YamlValue& value) const {
    CaseInput result;
    if (value.is_list()) {
      result.shape = read_shape(value, symbols_);
      return result;
    }
    bool has_shape = false;
    value.mapping("an input", {"shape", "dtype", "data"},
                  [&](const std::string& key, const YamlValue& field) {
                    if (key == "shape")
                      result.shape = read_shape(field, symbols_), has_shape = true;
                    if (key == "dtype") result.dtype = read_dtype(field);
                    if (key == "data") result.data = read_distribution(field);
                  });
    if (!has_shape) value.fail("the input has no 'shape'");
    return result;
  }

  DataSpec data(const YamlValue& value) const {
    DataSpec spec;
    value.mapping("data", {"distribution", "seed"},
                  [&](const std::string& key, const YamlValue& field) {
                    if (key == "seed") {
                      spec.seed = field.seed("seed");
                      spec.has_seed = true;
                    } else {
                      spec.distribution = read_distribution(field);
                    }
                  });
    return spec;
  }

  void read_attrs(Case& c, const YamlValue& value) const {
    value.mapping("attrs", [&](const std::string& key, const YamlValue& field) {
      field.located([&] { c.attrs.set(c.op->attrs, key, field.flow_text()); });
    });
  }

  static std::vector<std::string> read_variants(const YamlValue& value) {
    std::vector<std::string> variants;
    for (const YamlValue& entry : value.list("variants", true)) {
      variants.push_back(entry.text("a variant"));
    }
    return variants;
  }

  // Reads `failed`, or a mapping that states the variants and dtypes that fail.
  static ExpectedFailure read_expectation(const YamlValue& value) {
    ExpectedFailure expected;
    std::string status;
    if (value.is_scalar()) {
      status = value.text("expect");
    } else {
      value.mapping("expect", {"status", "variants", "dtypes"},
                    [&](const std::string& key, const YamlValue& field) {
                      if (key == "status") status = field.text("status");
                      if (key == "variants") expected.variants = read_variants(field);
                      if (key == "dtypes") expected.dtypes = read_dtypes(field);
                    });
    }
    if (status != "failed") {
      value.fail(fmt::format("expect is '{}'; it must be 'failed'", status));
    }
    return expected;
  }

  const YamlValue& root_;
  const Symbols& overrides_;
  Symbols symbols_;
  ContextBudget budget_;
  GraphReader graphs_{budget_};
  Blocks blocks_;
  CaseFile file_;
};

}  // namespace

CaseFile parse_case_file(const std::string& text, const std::string& path, const Symbols& overrides,
                         const ContextLimits& limits) {
  return Reader(parse_yaml(text, path), path, overrides, limits).read();
}

CaseFile load_case_file(const std::string& path, const Symbols& overrides) {
  return parse_case_file(read_input_file(path, "case file"), path, overrides);
}

const CaseFile& CaseFiles::file(const std::string& path) {
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  return files_.emplace(path, load_case_file(find_case_file(path), overrides_)).first->second;
}

}  // namespace opbench
