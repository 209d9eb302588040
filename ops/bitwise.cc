// Bits of integers, and of bool as 0 and 1.
#include <functional>

#include "ops/elementwise_op.h"

namespace opbench {
namespace {

const std::vector<TensorSpec> kTwo = {{"self"}, {"other"}};

template <OpName kName, auto kFunction>
Op bitwise_op(const ElementwiseRow& row) {
  Op op = integer_op<kName, kFunction>(kTwo, row);
  op.dtypes.push_back(DType::boolean);
  return op;
}

const RegisteredOp kOperators[] = {
    RegisteredOp(bitwise_op<"bitwise_and", std::bit_and<>{}>(
        {.summary = "the bits that x1 and x2 have in common",
         .source = "torch.bitwise_and; CANN BitwiseAnd",
         .known_as = {.calls = {{"bitwise_and_Tensor, bitwise_and, __and__, BitwiseAnd",
                                 "self|x1, other|x2", "result|self|out|y"}},
                      .torch = "torch.bitwise_and({0}, {1})"}})),
    RegisteredOp(bitwise_op<"bitwise_or", std::bit_or<>{}>(
        {.summary = "the bits of x1 and those of x2",
         .source = "torch.bitwise_or; CANN BitwiseOr",
         .known_as = {.calls = {{"bitwise_or_Tensor, bitwise_or, __or__, BitwiseOr",
                                 "self|x1, other|x2", "result|self|out|y"}},
                      .torch = "torch.bitwise_or({0}, {1})"}})),
    RegisteredOp(bitwise_op<"bitwise_xor", std::bit_xor<>{}>(
        {.summary = "the bits that either x1 or x2 has",
         .source = "torch.bitwise_xor; CANN BitwiseXor",
         .known_as = {.calls = {{"bitwise_xor_Tensor, bitwise_xor, __xor__, BitwiseXor",
                                 "self|x1, other|x2", "result|self|out|y"}},
                      .torch = "torch.bitwise_xor({0}, {1})"}})),
    RegisteredOp(integer_op<"bitwise_not", std::bit_not<>{}, 1>(
        {{"self"}},
        {.summary = "all bits of x inverted",
         .source = "torch.bitwise_not; CANN Invert; logical_not for bool",
         .known_as =
             {.calls = {{"bitwise_not, Invert", "self|x", "result|self|out|y", {.turn = 1}}},
              .torch = "torch.bitwise_not({0})"}})),
};

}  // namespace
}  // namespace opbench
