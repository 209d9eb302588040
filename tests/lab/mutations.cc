#include "tests/lab/mutations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/plan/reference_kernel.h"
#include "tensor/dtype.h"
#include "tensor/elements.h"

namespace opbench {
namespace {

// Root mean square of the finite values.
double magnitude(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::isfinite(value) ? std::min(value * value, 1e30) : 0;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

// Applies `change(desc, values)` to the floating-point outputs and to steps of quantisers.
template <class Change>
BrokenResults changed(const HonestRun& run, Change change) {
  std::vector<Elements> results = run.results();
  bool is_any = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorDesc& desc = run.problem().outputs[i];
    const bool is_number = is_floating(desc.dtype) || run.problem().op->is_quantised(desc.dtype);
    if (!is_number || desc.elements() == 0) continue;
    std::vector<double> values = run.values(desc, results[i]);
    change(desc, values);
    results[i] = run.elements(desc, values);
    is_any = true;
  }
  if (!is_any) return std::nullopt;
  return results;
}

template <class Function>
BrokenResults mapped(const HonestRun& run, Function function) {
  return changed(run, [&](const TensorDesc&, std::vector<double>& values) {
    for (double& value : values) value = function(value);
  });
}

BrokenResults zeros(const HonestRun& run) {
  return mapped(run, [](double) { return 0.0; });
}

BrokenResults negated(const HonestRun& run) {
  return mapped(run, [](double y) { return -y; });
}

BrokenResults doubled(const HonestRun& run) {
  return mapped(run, [](double y) { return 2 * y; });
}

// An error that rounding cannot explain: bf16 alone rounds by up to 0.4 %.
double wrong_share(DType dtype) { return dtype == DType::bf16 ? 0.05 : 0.02; }

BrokenResults slightly_large(const HonestRun& run) {
  return changed(run, [](const TensorDesc& desc, std::vector<double>& values) {
    for (double& value : values) value *= 1 + wrong_share(desc.dtype);
  });
}

BrokenResults without_sign(const HonestRun& run) {
  return mapped(run, [](double y) { return std::fabs(y); });
}

BrokenResults biased(const HonestRun& run) {
  return changed(run, [](const TensorDesc& desc, std::vector<double>& values) {
    const double bias = wrong_share(desc.dtype) * magnitude(values);
    for (double& value : values) value += bias;
  });
}

BrokenResults noisy(const HonestRun& run) {
  return changed(run, [](const TensorDesc& desc, std::vector<double>& values) {
    const double share = wrong_share(desc.dtype);
    std::uint32_t state = 1;
    for (double& value : values) {
      state = state * 1664525u + 1013904223u;  // Numerical Recipes, 2nd edition, 7.1
      value *= (state >> 31) != 0 ? 1 + share : 1 - share;
    }
  });
}

BrokenResults constant(const HonestRun& run) {
  return changed(run, [](const TensorDesc&, std::vector<double>& values) {
    std::fill(values.begin(), values.end(), values.front());
  });
}

BrokenResults clipped(const HonestRun& run) {
  return changed(run, [](const TensorDesc&, std::vector<double>& values) {
    const double most = magnitude(values);
    for (double& value : values) {
      if (std::isfinite(value)) value = std::clamp(value, -most, most);
    }
  });
}

BrokenResults one_wrong(const HonestRun& run) {
  return changed(run, [](const TensorDesc&, std::vector<double>& values) {
    double& value = values[values.size() * 5 / 7];
    value = std::isfinite(value) ? value * 1.5 + std::max(1.0, magnitude(values)) : 0;
  });
}

BrokenResults nan_in_one(const HonestRun& run) {
  return changed(run, [](const TensorDesc&, std::vector<double>& values) {
    values.back() = std::numeric_limits<double>::quiet_NaN();
  });
}

BrokenResults skipped_tail(const HonestRun& run) {
  std::vector<Elements> results = run.results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorDesc& desc = run.problem().outputs[i];
    const auto tail = static_cast<std::ptrdiff_t>(
        size_of(desc.dtype) * static_cast<std::size_t>(std::min<std::int64_t>(7, desc.elements())));
    std::copy(run.other_results()[i].end() - tail, run.other_results()[i].end(),
              results[i].end() - tail);
  }
  return results;
}

BrokenResults stale(const HonestRun& run) { return run.other_results(); }

BrokenResults off_by_one(const HonestRun& run) {
  return changed(run, [](const TensorDesc&, std::vector<double>& values) {
    std::rotate(values.begin(), values.end() - 1, values.end());
  });
}

// Reads the neighbour's element in the second block of 16 only.
BrokenResults off_by_one_block(const HonestRun& run) {
  return changed(run, [](const TensorDesc&, std::vector<double>& values) {
    const std::size_t begin = std::min<std::size_t>(16, values.size() / 2);
    const std::size_t end = std::min(begin + 16, values.size());
    if (end - begin > 1) {
      std::rotate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                  values.begin() + static_cast<std::ptrdiff_t>(end) - 1,
                  values.begin() + static_cast<std::ptrdiff_t>(end));
    }
  });
}

// Exchanges the last two axes when reading.
BrokenResults transposed(const HonestRun& run) {
  return changed(run, [](const TensorDesc& desc, std::vector<double>& values) {
    if (desc.shape.size() < 2) return std::reverse(values.begin(), values.end());
    const auto columns = static_cast<std::size_t>(desc.shape.back());
    const std::size_t rows = values.size() / std::max<std::size_t>(1, columns);
    const std::vector<double> before = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = before[i % rows * columns + i / rows];
    }
  });
}

double with_bits(double value, int bits) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

// Four bits fewer than fp16 and bf16, 16 fewer than fp32.
BrokenResults rounded_narrowly(const HonestRun& run) {
  return changed(run, [](const TensorDesc& desc, std::vector<double>& values) {
    const int bits = desc.dtype == DType::fp16 ? 7 : desc.dtype == DType::bf16 ? 4 : 8;
    for (double& value : values) value = with_bits(value, bits);
  });
}

BrokenResults swallowed_nan(const HonestRun& run) {
  return mapped(run, [](double y) { return std::isnan(y) ? 0 : y; });
}

BrokenResults swallowed_inf(const HonestRun& run) {
  return changed(run, [](const TensorDesc& desc, std::vector<double>& values) {
    for (double& y : values) {
      if (std::isinf(y)) y = std::copysign(largest_finite(desc.dtype), y);
    }
  });
}

BrokenResults flushed_subnormals(const HonestRun& run) {
  return changed(run, [](const TensorDesc& desc, std::vector<double>& values) {
    for (double& y : values) {
      if (std::fabs(y) < smallest_normal(desc.dtype)) y = 0;
    }
  });
}

constexpr std::array kResultMutations = {
    Mutation{"zeros", "writes zeros", zeros},
    Mutation{"negated", "the sign is wrong", negated},
    Mutation{"doubled", "twice the result", doubled},
    Mutation{"too-large", "2 % too large (bf16: 5 %)", slightly_large},
    Mutation{"biased", "2 % (bf16: 5 %) of the magnitude too large", biased},
    Mutation{"noise", "2 % (bf16: 5 %) off, to either side", noisy},
    Mutation{"absolute", "the sign is lost", without_sign},
    Mutation{"constant", "the first result everywhere", constant},
    Mutation{"clipped", "no larger than the magnitude", clipped},
    Mutation{"one-wrong", "one element is wrong", one_wrong},
    Mutation{"one-nan", "the last element is NaN", nan_in_one},
    Mutation{"skipped-tail", "the last seven elements are those of other inputs", skipped_tail},
    Mutation{"stale", "the results of other inputs", stale},
    Mutation{"off-by-one", "every result in the place of the next", off_by_one},
    Mutation{"off-by-one-block", "the same within one block of 16", off_by_one_block},
    Mutation{"transposed", "the last two axes exchanged", transposed},
    Mutation{"rounding", "rounded to too few bits", rounded_narrowly},
    Mutation{"swallowed-nan", "0 for NaN", swallowed_nan},
    Mutation{"swallowed-inf", "the largest number for Inf", swallowed_inf},
    Mutation{"flushed", "0 for subnormal numbers", flushed_subnormals},
};

}  // namespace

HonestRun::HonestRun(const Kernel& kernel, const Case& c, std::uint64_t seed)
    : kernel_(kernel),
      problem_(problem_of(c)),
      inputs_(elements_of(c, problem_, seed, kernel.takes)),
      results_(results_of(inputs_)),
      others_(results_of(elements_of(c, problem_, seed ^ 0x5DEECE66D, kernel.takes))) {}

std::vector<Elements> HonestRun::results_of(const InputElements& inputs) const {
  return run_kernel_on(kernel_, problem_, inputs, {});
}

std::vector<Elements> HonestRun::results_with(std::string_view attrs) const {
  return results_of(problem_.inputs, attrs, inputs_);
}

std::vector<Elements> HonestRun::results_of(std::vector<TensorDesc> descs, std::string_view attrs,
                                            const InputElements& inputs) const {
  Attrs changed = problem_.attrs;
  for (std::string_view rest = attrs; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    changed.set(problem_.op->attrs, one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  const Problem problem = make_problem(*problem_.op, std::move(descs), std::move(changed));
  const bool is_taken = refusal(kernel_, problem).empty();
  return run_kernel_on(is_taken ? kernel_ : reference_kernel(), problem, inputs, {});
}

std::vector<double> HonestRun::values(const TensorDesc& desc, const Elements& elements) const {
  std::vector<double> values(static_cast<std::size_t>(desc.elements()));
  to_doubles(desc.dtype, elements.data(), desc.elements(), values.data());
  return values;
}

Elements HonestRun::elements(const TensorDesc& desc, const std::vector<double>& values) const {
  Elements elements(values.size() * size_of(desc.dtype));
  from_doubles(desc.dtype, values.data(), std::ssize(values), elements.data());
  return elements;
}

std::span<const Mutation> result_mutations() { return kResultMutations; }

std::vector<const Mutation*> all_mutations() {
  std::vector<const Mutation*> all;
  for (const auto list : {result_mutations(), input_mutations(), formula_mutations(),
                          attention_mutations(), language_mutations(), vision_mutations()}) {
    for (const Mutation& mutation : list) all.push_back(&mutation);
  }
  return all;
}

}  // namespace opbench
