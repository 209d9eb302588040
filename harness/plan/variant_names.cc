#include "harness/plan/variant_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/context.h"
#include "tensor/error.h"
#include "tensor/nearest.h"

namespace opbench {

bool is_wanted(const Kernel& kernel, const std::vector<std::string>& wanted) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), kernel.name) != wanted.end() ||
         std::find(wanted.begin(), wanted.end(), kernel.family_name()) != wanted.end();
}

std::set<std::string> variant_names(const std::set<const Op*>& ops) {
  std::set<std::string> names = {std::string(kReferenceVariant)};
  for (const Op* op : ops) {
    for (const Kernel* kernel : kernels_of(op->name)) {
      names.insert(std::string(kernel->name));
      names.insert(std::string(kernel->family_name()));
    }
  }
  return names;
}

void check_variant_names(const std::vector<std::string>& wanted,
                         const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& name : wanted) {
    if (known.contains(name)) continue;
    throw Error(
        fmt::format("no operator of this run has a variant '{}'{}", name, suggestion(name, names)));
  }
}

}  // namespace opbench
