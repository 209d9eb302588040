// Whole quotients of integers, and remainders of numbers.
#include <cmath>

#include "ops/elementwise_op.h"

namespace opbench {
namespace {

double truncated(double a, double b) { return std::fmod(a, b); }

bool has_other_sign(double rest, double b) { return rest != 0 && (rest < 0) != (b < 0); }
double floored(double a, double b) {
  const double rest = std::fmod(a, b);
  return has_other_sign(rest, b) ? rest + b : rest;
}

// Terms of x1 - x2 trunc(x1 / x2), and of the sum after it, which cancels.
template <OpName kName, bool kIsFloored>
Terms terms(std::span<const InputReader> inputs, const Attrs&) {
  return {.magnitude = broadcast_reference(kName.view(), inputs, [](double a, double b) {
            const double rest = std::fmod(a, b);
            const bool is_sum = kIsFloored && has_other_sign(rest, b);
            return std::fabs(a) + std::fabs(a - rest) + (is_sum ? std::fabs(b) : 0);
          })};
}

// Whole divisors for integers; in floating point they are away from 0.
Distribution divisors(const Problem& problem) {
  const DType dtype = problem.inputs[1].dtype;
  if (is_floating(dtype)) return {DistributionKind::uniform, 0.125, 2};
  return {DistributionKind::integers, dtype == DType::uint8 ? 1.0 : -7.0, 7};
}

const std::vector<TensorSpec> kTwo = {{"x1", "self"},
                                      {.name = "x2", .ir_path = "other", .data = divisors}};

const RegisteredOp kOperators[] = {
    RegisteredOp(integer_op<"trunc_divide", truncated_quotient>(
        kTwo, {.summary = "y = x1 / x2 of integers, rounded toward 0; 0 where x2 is 0",
               .source = "torch.div of integers, rounding_mode trunc; CANN TruncateDiv",
               .known_as = {.not_recorded = "dumps do not show how a quotient is rounded",
                            .calls = {{"TruncateDiv", "x1, x2", "y", {.is_profiled_only = true}}},
                            .torch = "torch.div({0}, {1}, rounding_mode='trunc')"}})),
    RegisteredOp(integer_op<"floor_divide", floored_quotient>(
        kTwo, {.summary = "y = x1 / x2 of integers, rounded down; 0 where x2 is 0",
               .source = "torch.div of integers, rounding_mode floor; CANN FloorDiv",
               .known_as = {.not_recorded = "dumps do not show how a quotient is rounded",
                            .calls = {{"FloorDiv, floor_divide",
                                       "x1|self, x2|other",
                                       "y|result",
                                       {.is_profiled_only = true}}},
                            .torch = "torch.div({0}, {1}, rounding_mode='floor')"}})),
    RegisteredOp(broadcast_op<"fmod", truncated, 1>(
        kTwo, {.summary = "y = x1 - x2 trunc(x1 / x2), the remainder with the sign of x1",
               .source = "torch.fmod; CANN Mod",
               .known_as = {.calls = {{"fmod_Tensor, fmod_Scalar, fmod, Mod", "self|x1, other|x2",
                                       "result|self|out|y"}},
                            .torch = "torch.fmod({0}, {1})"},
               .terms = terms<"fmod", false>,
               .on_integers = on_integers<"fmod", truncated_remainder>})),
    RegisteredOp(broadcast_op<"remainder", floored, 2>(
        kTwo, {.summary = "y = x1 - x2 floor(x1 / x2), the remainder with the sign of x2",
               .source = "torch.remainder; CANN FloorMod",
               .known_as = {.calls = {{"remainder_Tensor, remainder_Scalar, remainder, FloorMod",
                                       "self|x1, other|x2", "result|self|out|y"}},
                            .torch = "torch.remainder({0}, {1})"},
               .terms = terms<"remainder", true>,
               .on_integers = on_integers<"remainder", floored_remainder>})),
};

}  // namespace
}  // namespace opbench
