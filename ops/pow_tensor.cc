#include <cmath>

#include "ops/elementwise_op.h"

namespace opbench {
namespace {

double raised(double x, double exponent) { return std::pow(x, exponent); }

Distribution exponents(const Problem&) { return {DistributionKind::integers, -2, 3}; }

const RegisteredOp registered{broadcast_op<"pow_tensor", raised, 20>(
    {{"self"}, {.name = "exponent", .data = exponents}},
    {.summary = "y = x^exponent, of a tensor of exponents, broadcast",
     .source = "torch.pow of tensors; frequencies of rotary embeddings: 10000^(2i/d)",
     .known_as = {.calls = {{"pow_Tensor_Tensor, pow_Scalar",
                             "self, exponent",
                             "result|self|out",
                             {.turn = 1}}},
                  .torch = "torch.pow({0}, {1})"},
     .takes_functions = true})};

}  // namespace
}  // namespace opbench
