#pragma once

#include <string>
#include <vector>

#include "harness/plan/context.h"
#include "harness/plan/context_settings.h"
#include "harness/plan/context_surroundings.h"

namespace opbench {

/// Reads the steps of one context, whose own settings and graph are `settings` and `graph`.
class StepReader {
 public:
  StepReader(const ContextSurroundings& file, ContextBudget& budget, const GraphTemplate& graph,
             const ContextSettings& settings)
      : file_(file), budget_(budget), graph_(graph), own_(settings) {}

  /// Of `steps:`.
  std::vector<ContextStep> read(const YamlValue& value);
  /// Of a context without `steps:` that stands at `origin`: one, called "default".
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

}  // namespace opbench
