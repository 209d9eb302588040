#include "harness/plan/context_reader.h"

#include <fmt/format.h>

#include <limits>

#include "harness/plan/context_settings.h"
#include "harness/plan/context_steps.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

const std::vector<std::string> kContextKeys = {
    "name",   "dtypes", "inputs", "parameters", "nodes", "outputs",  "loss",    "backward",
    "update", "seed",   "steps",  "variants",   "rules", "standard", "samples", "precision"};

constexpr std::size_t kMostContexts = 1000;

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
      entry.fail(fmt::format("context '{}' stands twice, first at {}", context.name, other.origin));
    }
    contexts.push_back(std::move(context));
  }
  return contexts;
}

}  // namespace opbench
