// y = x rounded to a whole number. The result keeps the sign of x, also if it is 0.
#include <cmath>

#include "ops/elementwise_op.h"

namespace opbench {
namespace {

double floor_of(double x) { return std::floor(x); }
double ceil_of(double x) { return std::ceil(x); }
double trunc_of(double x) { return std::trunc(x); }
double round_of(double x) { return std::nearbyint(x); }  // halves to even, the default mode

// Steps have no slope.
std::vector<GradientCall> gradient(const Problem&) {
  return {{"", {{GradientArg::zeros_like_input, 0}}}};
}

std::vector<double> corner_points(const Attrs&, DType) {
  return {0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.25, -0.25, 2049};
}

template <OpName kName, auto kFormula>
Op rounding_op(std::string_view summary, std::string_view source, KnownAs known_as) {
  return chosen_op<kName, 0, kFormula, 1>({{"self"}}, {.summary = summary,
                                                       .source = source,
                                                       .known_as = std::move(known_as),
                                                       .gradient = gradient,
                                                       .corner_points = corner_points});
}

const RegisteredOp kOperators[] = {
    RegisteredOp(rounding_op<"floor", floor_of>(
        "the next whole number below x", "torch.floor; CANN Floor",
        {.calls = {{"floor, Floor", "self|x|X", "result|self|out|y|Y"}},
         .torch = "torch.floor({0})"})),
    RegisteredOp(
        rounding_op<"ceil", ceil_of>("the next whole number above x", "torch.ceil; CANN Ceil",
                                     {.calls = {{"ceil, Ceil", "self|x|X", "result|self|out|y|Y"}},
                                      .torch = "torch.ceil({0})"})),
    RegisteredOp(rounding_op<"trunc", trunc_of>(
        "x without its fraction", "torch.trunc; CANN Trunc",
        {.calls = {{"trunc, fix, Trunc", "self|x|input_x", "result|self|out|y|output_y"}},
         .torch = "torch.trunc({0})"})),
    RegisteredOp(rounding_op<"round", round_of>(
        "the nearest whole number, of halves the even one", "torch.round; CANN Round, Rint",
        {.calls =
             {{"round, Round, Rint", "self|x|X", "result|self|out|y|Y", {.where = "decimals: 0"}}},
         .torch = "torch.round({0})"})),
};

}  // namespace
}  // namespace opbench
