#include "compare/checkpoint_names.h"

#include <algorithm>
#include <array>

#include "dump/dump_types.h"

namespace opbench {
namespace {

// Keys under which training scripts save a model and an optimiser.
constexpr std::array<std::string_view, 6> kModels = {"state_dict", "model",   "model_state_dict",
                                                     "net",        "network", "module"};
constexpr std::array<std::string_view, 3> kOptimisers = {"optimizer_state_dict", "optim",
                                                         "optimizer_state"};

template <class Names>
bool is_in(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string checkpoint_name(std::string_view path) {
  std::string name;
  for (const std::string& component : split_components(path)) {
    std::string_view part = component;
    if (part.empty() || is_in(kModels, part)) continue;
    if (is_in(kOptimisers, part)) part = "optimizer";
    constexpr std::string_view kDataParallel = "module.";
    if (part.starts_with(kDataParallel)) part.remove_prefix(kDataParallel.size());
    name += '/';
    name += part;
  }
  return name;
}

}  // namespace opbench
