#include "ops/intermediates.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace opbench {

Intermediates intermediates_of(std::string_view op, std::span<const InputReader> inputs,
                               const Attrs& attrs) {
  static const std::vector<const OpIntermediates*> all = RegisteredIntermediates::all();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const OpIntermediates* entry) { return entry->op == op; });
  return found == all.end() ? Intermediates{} : (*found)->of(inputs, attrs);
}

double greatest_product(std::initializer_list<double> factors) {
  double product = 1;
  for (const double factor : factors) product *= std::fmax(1, std::fabs(factor));
  return product;
}

}  // namespace opbench
