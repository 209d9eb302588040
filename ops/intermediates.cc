#include "ops/intermediates.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "tensor/elements.h"

namespace opbench {
namespace {

/// The magnitudes of the finite elements of inputs; of an index, its elements.
class InputMagnitudes {
 public:
  explicit InputMagnitudes(std::span<const InputReader> inputs) {
    for (const InputReader& input : inputs) {
      if (!is_floating(input.desc().dtype)) {
        readers_.push_back(input);
        continue;
      }
      copies_.push_back(changed_copy(input.desc(), input.storage(), [](std::int64_t, double value) {
        return finite_magnitude(value);
      }));
      readers_.emplace_back(input.desc(), copies_.back().data());
    }
  }

  std::span<const InputReader> readers() const { return readers_; }

 private:
  std::vector<Buffer> copies_;
  std::vector<InputReader> readers_;
};

// Of alpha and beta.
Attrs magnitudes_of(const Attrs& attrs) {
  Attrs result = attrs;
  for (const auto& [name, value] : attrs.values()) {
    if (const double* number = std::get_if<double>(&value)) result.put(name, std::fabs(*number));
  }
  return result;
}

double elements_per_output(const Op& op, std::span<const InputReader> inputs, const Attrs& attrs) {
  const double outputs = double(op.infer(descs_of(inputs), attrs)[0].elements());
  return std::max(1.0, double(inputs[0].desc().elements()) / std::max(1.0, outputs));
}

// No partial sum is greater, in whichever order; a mean divides after it has added.
Intermediates of_sums(const Op& op, std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto magnitudes = std::make_shared<const InputMagnitudes>(inputs);
  const auto terms = [magnitudes, sum = op.reference(magnitudes->readers(), magnitudes_of(attrs))](
                         double times) {
    return [magnitudes, sum, times](std::size_t output, ElementRange range, std::span<double> to) {
      sum(output, range, to);
      for (double& value : to) value = std::fabs(value) * times;
    };
  };
  return {.rounding = terms(1),
          .greatest = terms(elements_per_output(op, inputs, attrs)),
          .in_fp32 = true};
}

}  // namespace

Intermediates intermediates_of(const Op& op, std::span<const InputReader> inputs,
                               const Attrs& attrs) {
  static const std::vector<const OpIntermediates*> all = RegisteredIntermediates::all();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const OpIntermediates* entry) { return entry->op == op.name; });
  if (found != all.end()) return (*found)->of(inputs, attrs);
  return op.mixing == Mixing::sums ? of_sums(op, inputs, attrs) : Intermediates{};
}

double finite_magnitude(double value) { return std::isfinite(value) ? std::fabs(value) : 0; }

double greatest_product(std::initializer_list<double> factors) {
  double product = 1;
  for (const double factor : factors) product *= std::fmax(1, std::fabs(factor));
  return product;
}

}  // namespace opbench
