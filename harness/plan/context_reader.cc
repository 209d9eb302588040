#include "harness/plan/context_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "harness/plan/context.h"
#include "harness/plan/context_expand.h"
#include "harness/plan/context_order.h"
#include "harness/plan/context_settings.h"
#include "harness/plan/context_template.h"
#include "tensor/error.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

/// Reads the steps of one context. `settings` and `graph` are the context's own.
class StepReader {
 public:
  StepReader(const ContextSurroundings& file, ContextBudget& budget, const GraphTemplate& graph,
             const ContextSettings& settings)
      : file_(file), budget_(budget), graph_(graph), own_(settings) {}

  /// Reads `steps:`.
  std::vector<ContextStep> read(const YamlValue& value);
  /// Returns the single step "default" of a context at `origin` without `steps:`.
  std::vector<ContextStep> read_none(const std::string& origin);

 private:
  void add(const YamlValue& value);
  ContextSettings settings_before(const YamlValue& value, ContextStep& step) const;
  void read_set(const YamlValue& value, Symbols& set) const;
  void read_blocks(const YamlValue& value, std::map<std::string, std::string>& blocks) const;
  void finish(ContextStep step, ContextSettings settings);
  std::shared_ptr<const ContextGraph> graph(const ContextSettings& settings, const Symbols& symbols,
                                            const std::string& step);

  const ContextSurroundings& file_;
  ContextBudget& budget_;
  const GraphTemplate& graph_;
  const ContextSettings& own_;
  std::vector<ContextStep> steps_;
  std::vector<ContextSettings> settings_;                                    // of each step
  using Variation = std::pair<Symbols, std::map<std::string, std::string>>;  // symbols and blocks
  std::map<Variation, std::shared_ptr<const ContextGraph>> graphs_;
};

const std::vector<std::string> kStepKeys = {"name",  "summary",   "after",          "variants",
                                            "rules", "precision", "standard",       "samples",
                                            "set",   "blocks",    "not_applicable", "published"};

constexpr std::size_t kMostSteps = 1000;  // of one context

template <class Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

// "; did you mean ..." with a similar known name.
std::string hint(const std::string& name, const std::vector<std::string>& known) {
  return known.empty() ? "; no name is defined" : suggestion(name, known);
}

void require_block(const YamlValue& value, const std::string& name, const Blocks& blocks) {
  if (blocks.contains(name)) return;
  value.fail(fmt::format("unknown block '{}'{}", name, hint(name, keys_of(blocks))));
}

Symbols changed(Symbols symbols, const Symbols& set) {
  for (const auto& [name, value] : set) symbols[name] = value;
  return symbols;
}

std::int64_t samples_of(const ContextSettings& settings, const Symbols& symbols) {
  std::int64_t samples = 0;
  try {
    samples = evaluate_extent(settings.samples.value, symbols);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: samples: {}", settings.samples.origin, error.what()));
  }
  if (samples < 1)
    throw Error(
        fmt::format("{}: samples must be 1 or more, found {}", settings.samples.origin, samples));
  return samples;
}

// Bytes of the budget that a step takes in addition to its graph.
std::size_t bytes_of(const ContextSettings& settings, const Symbols& symbols) {
  constexpr std::size_t kStepBytes = 512, kRuleBytes = 128;
  std::size_t entries = symbols.size() + settings.set.size() + settings.blocks.size();
  for (const auto& [op, kernels] : settings.variants) entries += 1 + kernels.size();
  return kStepBytes + entries * kRuleBytes;
}

std::vector<ContextStep> StepReader::read(const YamlValue& value) {
  const std::vector<YamlValue> entries = value.list("steps");
  if (entries.size() > kMostSteps) {
    value.fail(fmt::format("the context has more than {} steps", kMostSteps));
  }
  for (const YamlValue& entry : entries) add(entry);
  if (steps_.empty()) value.fail("the list of steps is empty");
  return std::move(steps_);
}

std::vector<ContextStep> StepReader::read_none(const std::string& origin) {
  ContextStep step;
  step.name = "default";
  step.origin = origin;
  finish(std::move(step), own_);
  return std::move(steps_);
}

void StepReader::add(const YamlValue& value) {
  ContextStep step;
  step.origin = value.place();
  value.mapping("a step", kStepKeys, [&](const std::string& key, const YamlValue& field) {
    if (key == "name") step.name = read_name(field, "the name of a step");
    if (key == "summary") step.summary = field.text(key);
    if (key != "not_applicable") return;
    step.not_applicable = field.text(key);
    if (step.not_applicable.empty()) field.fail("not_applicable must say why");
  });
  if (step.name.empty()) value.fail("the step has no 'name'");
  for (const ContextStep& other : steps_) {
    if (other.name != step.name) continue;
    value.fail(fmt::format("step '{}' occurs twice, first at {}", step.name, other.origin));
  }
  ContextSettings settings = settings_before(value, step);
  settings.published.ms = 0;  // a time belongs to one step
  value.mapping("a step", [&](const std::string& key, const YamlValue& field) {
    read_setting(key, field, settings);
    if (key == "set") read_set(field, settings.set);
    if (key == "blocks") read_blocks(field, settings.blocks);
  });
  budget_.spend(bytes_of(settings, file_.symbols), step.origin);
  finish(std::move(step), std::move(settings));
}

// Settings that the step starts from. Also sets the step that it is compared with. A step that
// cannot run is replaced by the step that it would be compared with itself.
ContextSettings StepReader::settings_before(const YamlValue& value, ContextStep& step) const {
  const auto comparable = [&](std::size_t i) {
    return steps_[i].not_applicable.empty() ? static_cast<int>(i) : steps_[i].after;
  };
  if (!steps_.empty()) step.after = comparable(steps_.size() - 1);
  ContextSettings settings = own_;
  value.mapping("a step", [&](const std::string& key, const YamlValue& field) {
    if (key != "after") return;
    const std::string name = field.text(key);
    const auto found = std::find_if(steps_.begin(), steps_.end(),
                                    [&](const ContextStep& other) { return other.name == name; });
    if (found == steps_.end()) {
      std::vector<std::string> names;
      for (const ContextStep& other : steps_) names.push_back(other.name);
      field.fail(fmt::format("no earlier step is called '{}'{}", name, hint(name, names)));
    }
    const auto index = static_cast<std::size_t>(found - steps_.begin());
    step.after = comparable(index);
    settings = settings_[index];
  });
  return settings;
}

void StepReader::read_set(const YamlValue& value, Symbols& set) const {
  value.mapping("set", [&](const std::string& name, const YamlValue& field) {
    if (!file_.symbols.contains(name)) {
      field.fail(
          fmt::format("the file has no symbol '{}'{}", name, hint(name, keys_of(file_.symbols))));
    }
    set[name] = read_extent(field, file_.symbols);
  });
}

void StepReader::read_blocks(const YamlValue& value,
                             std::map<std::string, std::string>& blocks) const {
  value.mapping("blocks", [&](const std::string& name, const YamlValue& field) {
    const std::string other = field.text("a block");
    require_block(field, name, file_.blocks);
    require_block(field, other, file_.blocks);
    const GraphTemplate& from = file_.blocks.at(name).graph;
    const GraphTemplate& to = file_.blocks.at(other).graph;
    if (from.inputs.size() != to.inputs.size() || from.outputs.size() != to.outputs.size()) {
      field.fail(
          fmt::format("block '{}' has {} inputs and {} outputs, but '{}', which it is to replace, "
                      "has {} and {}",
                      other, to.inputs.size(), to.outputs.size(), name, from.inputs.size(),
                      from.outputs.size()));
    }
    blocks[name] = other;
  });
}

void StepReader::finish(ContextStep step, ContextSettings settings) {
  const Symbols symbols = changed(file_.symbols, settings.set);
  step.variants = settings.variants;
  step.rules = settings.rules;
  step.precision = settings.precision;
  step.standard = settings.standard;
  step.published = settings.published;
  step.samples = samples_of(settings, symbols);
  step.graph = graph(settings, symbols, step.name);
  steps_.push_back(std::move(step));
  settings_.push_back(std::move(settings));
}

std::shared_ptr<const ContextGraph> StepReader::graph(const ContextSettings& settings,
                                                      const Symbols& symbols,
                                                      const std::string& step) {
  std::shared_ptr<const ContextGraph>& known = graphs_[{symbols, settings.blocks}];
  if (known != nullptr) return known;
  try {
    ContextGraph graph = expand_graph(graph_, {file_.blocks, settings.blocks, symbols}, budget_);
    order_graph(graph, graph_.outputs_origin);
    known = std::make_shared<const ContextGraph>(std::move(graph));
  } catch (const Error& error) {
    if (settings.set.empty() && settings.blocks.empty()) throw;
    throw Error(fmt::format("{} (in step '{}')", error.what(), step));
  }
  return known;
}

const std::vector<std::string> kContextKeys = {
    "name",  "dtypes",   "inputs",  "parameters", "nodes",    "outputs",
    "loss",  "backward", "update",  "seed",       "steps",    "variants",
    "rules", "standard", "samples", "precision",  "published"};

constexpr std::size_t kMostContexts = 1000;  // of one file

Loss loss(const YamlValue& value) {
  const std::string text = value.text("loss");
  if (text == "sum") return Loss::sum;
  if (text == "mean") return Loss::mean;
  value.fail(fmt::format("loss is '{}'; allowed: sum, mean", text));
}

ContextUpdate update(const YamlValue& value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  std::optional<ContextUpdate> result;
  value.mapping("update", {"rate"}, [&](const std::string& key, const YamlValue& field) {
    result = ContextUpdate{field.number(key, -kMost, kMost)};
  });
  if (!result) value.fail("the update has no 'rate'");
  return *result;
}

Context read_context(const YamlValue& value, const ContextSurroundings& file, GraphReader& reader,
                     ContextBudget& budget) {
  Context context;
  context.origin = value.place();
  context.symbols = to_string(file.symbols);
  budget.spend(context.symbols.size(), context.origin);
  context.dtypes = file.dtypes.empty() ? std::vector<DType>{DType::fp32} : file.dtypes;
  GraphTemplate graph;
  graph.origin = context.origin;
  ContextSettings settings;
  std::optional<YamlValue> steps, update_place;
  value.mapping("a context", kContextKeys, [&](const std::string& key, const YamlValue& field) {
    if (key == "name") context.name = read_name(field, "the name of a context");
    if (key == "dtypes") context.dtypes = read_dtypes(field);
    if (key == "backward") context.backward = field.boolean(key);
    if (key == "loss") context.loss = loss(field);
    if (key == "update") context.update = update(field), update_place = field;
    if (key == "seed") context.seed = field.seed(key);
    if (key == "steps") steps = field;
    read_setting(key, field, settings);
    reader.read(key, field, graph);
  });
  if (context.name.empty()) value.fail("the context has no 'name'");
  if (context.dtypes.empty()) value.fail("the list of dtypes is empty");
  if (update_place && !context.backward) update_place->fail("update needs backward: true");
  reader.finish(graph, false);
  check_includes(graph, file.blocks);
  StepReader step_reader(file, budget, graph, settings);
  context.steps = steps ? step_reader.read(*steps) : step_reader.read_none(context.origin);
  return context;
}

}  // namespace

std::vector<Context> read_contexts(const YamlValue& value, const ContextSurroundings& file,
                                   GraphReader& reader, ContextBudget& budget) {
  std::vector<Context> contexts;
  const std::vector<YamlValue> entries = value.list("contexts");
  if (entries.size() > kMostContexts) {
    value.fail(fmt::format("the file has more than {} contexts", kMostContexts));
  }
  for (const YamlValue& entry : entries) {
    Context context = read_context(entry, file, reader, budget);
    for (const Context& other : contexts) {
      if (other.name != context.name) continue;
      entry.fail(fmt::format("context '{}' occurs twice, first at {}", context.name, other.origin));
    }
    contexts.push_back(std::move(context));
  }
  return contexts;
}

}  // namespace opbench
