#include "ops/terms.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/elements.h"

namespace opbench {
namespace {

/// The magnitudes of the finite elements of inputs; an index is unchanged.
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

// The magnitudes of attributes alpha and beta.
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

// No partial sum is greater, in any order; a mean divides after the sum.
Terms terms_of_sum(const Op& op, std::span<const InputReader> inputs, const Attrs& attrs) {
  const auto magnitudes = std::make_shared<const InputMagnitudes>(inputs);
  const auto terms = [magnitudes, sum = op.reference(magnitudes->readers(), magnitudes_of(attrs))](
                         double times) {
    return [magnitudes, sum, times](std::size_t output, ElementRange range, std::span<double> to) {
      sum(output, range, to);
      for (double& value : to) value = std::fabs(value) * times;
    };
  };
  return {.magnitude = terms(1), .greatest = terms(elements_per_output(op, inputs, attrs))};
}

// Larger than the epsilon of every dtype, and small enough for most functions to be nearly linear.
constexpr double kChange = 0x1p-5;

/// The reference with one input multiplied by 1 + kChange: a copy of that input, and the readers of
/// all inputs.
class ChangedInput {
 public:
  ChangedInput(const Problem& problem, std::span<const InputReader> inputs, std::size_t changed)
      : copy_(changed_copy(inputs[changed].desc(), inputs[changed].storage(),
                           [](std::int64_t, double value) { return value * (1 + kChange); })),
        readers_(inputs.begin(), inputs.end()) {
    readers_[changed] = InputReader(inputs[changed].desc(), copy_.data());
    reference_ = problem.op->reference(readers_, problem.attrs);
  }

  void read(std::size_t output, ElementRange range, std::span<double> to) const {
    reference_(output, range, to);
  }

 private:
  Buffer copy_;
  std::vector<InputReader> readers_;
  Reference reference_;
};

/// Terms of an operator that states no terms. Computed on the first request, because most outputs
/// need no terms.
class FoundTerms {
 public:
  FoundTerms(const Problem& problem, std::span<const InputReader> inputs)
      : problem_(problem),
        inputs_(inputs.begin(), inputs.end()),
        reference_(problem.op->reference(inputs_, problem.attrs)) {}

  void read(std::size_t output, ElementRange range, std::span<double> to) {
    std::call_once(once_, [this] { change_inputs(); });
    std::vector<double> before(to.size()), after(to.size());
    reference_(output, range, before);
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = std::fabs(before[k]);
    for (const auto& input : changed_) {
      input->read(output, range, after);
      for (std::size_t k = 0; k < to.size(); ++k) {
        to[k] += finite_magnitude((after[k] - before[k]) / kChange);
      }
    }
  }

 private:
  void change_inputs() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!is_floating(inputs_[i].desc().dtype)) continue;
      changed_.push_back(std::make_unique<const ChangedInput>(problem_, inputs_, i));
    }
  }

  const Problem& problem_;
  std::vector<InputReader> inputs_;
  Reference reference_;
  std::once_flag once_;
  std::vector<std::unique_ptr<const ChangedInput>> changed_;
};

// Inputs are exact: a single operation has the rounding of its result only.
bool is_rounded_once(const Problem& problem) {
  const double elements = double(problem.outputs[0].elements());
  return !problem.op->mixes_elements() &&
         problem.op->traffic(problem).operations <= std::max(1.0, elements);
}

}  // namespace

Terms terms_of(const Problem& problem, std::span<const InputReader> inputs) {
  const Op& op = *problem.op;
  Terms terms;
  if (op.terms != nullptr) {
    terms = op.terms(inputs, problem.attrs);
  } else if (op.mixing == Mixing::sums) {
    terms = terms_of_sum(op, inputs, problem.attrs);
  }
  if (terms.magnitude != nullptr) return terms;
  if (is_rounded_once(problem)) {
    terms.magnitude = [](std::size_t, ElementRange, std::span<double> to) {
      std::fill(to.begin(), to.end(), 0.0);
    };
    return terms;
  }
  terms.magnitude = [found = std::make_shared<FoundTerms>(problem, inputs)](
                        std::size_t output, ElementRange range, std::span<double> to) {
    found->read(output, range, to);
  };
  return terms;
}

double finite_magnitude(double value) { return std::isfinite(value) ? std::fabs(value) : 0; }

double greatest_product(std::initializer_list<double> factors) {
  double product = 1;
  for (const double factor : factors) product *= std::fmax(1, std::fabs(factor));
  return product;
}

}  // namespace opbench
