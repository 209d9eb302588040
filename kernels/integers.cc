// Element-wise operators on integers, as plain loops that the compiler vectorises.
#include "kernels/integers.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <stdexcept>
#include <string>

#include "kernels/simd/elementwise.h"
#include "ops/integers.h"

namespace opbench {
namespace {

using Loop = void (*)(DType dtype, const ElementwisePart& part);

/// y = kFunction(x1, ..., xn) in the dtype; a comparison gives a bool.
template <auto kFunction, std::size_t kInputs>
void loop(DType dtype, const ElementwisePart& part) {
  visit_integer(dtype, [&]<class T>(T) {
    [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
      const T* const x[] = {static_cast<const T*>(part.inputs[kAt])...};
      constexpr bool kCompares = std::is_same_v<decltype(kFunction(*x[kAt]...)), bool>;
      using Result = std::conditional_t<kCompares, bool, T>;  // short integers promote to int
      auto* const y = static_cast<Result*>(part.output);
      for (std::size_t i = 0; i < part.count; ++i) {
        y[i] = static_cast<Result>(kFunction(x[kAt][i]...));
      }
    }
    (std::make_index_sequence<kInputs>());
  });
}

constexpr auto complement = []<class T>(T a) { return static_cast<T>(~a); };

struct NamedLoop {
  std::string_view op;
  Loop loop;
};

constexpr NamedLoop kLoops[] = {
    {"add", loop<integer_sum, 2>},
    {"sub", loop<integer_difference, 2>},
    {"mul", loop<integer_product, 2>},
    {"maximum", loop<greater_integer, 2>},
    {"minimum", loop<smaller_integer, 2>},
    {"neg", loop<integer_negative, 1>},
    {"abs", loop<integer_magnitude, 1>},
    {"trunc_divide", loop<truncated_quotient, 2>},
    {"floor_divide", loop<floored_quotient, 2>},
    {"fmod", loop<truncated_remainder, 2>},
    {"remainder", loop<floored_remainder, 2>},
    {"bitwise_and", loop<std::bit_and<>{}, 2>},
    {"bitwise_or", loop<std::bit_or<>{}, 2>},
    {"bitwise_xor", loop<std::bit_xor<>{}, 2>},
    {"bitwise_not", loop<complement, 1>},
    {"eq", loop<std::equal_to<>{}, 2>},
    {"ne", loop<std::not_equal_to<>{}, 2>},
    {"lt", loop<std::less<>{}, 2>},
    {"le", loop<std::less_equal<>{}, 2>},
    {"gt", loop<std::greater<>{}, 2>},
    {"ge", loop<std::greater_equal<>{}, 2>},
};

/// Operators without floating dtypes.
class IntegerKernels {
 public:
  explicit IntegerKernels(std::initializer_list<std::string_view> ops) {
    for (const std::string_view op : ops) {
      kernels_.emplace_back(Kernel{.op = op,
                                   .name = "native",
                                   .provider = Provider::framework,
                                   .summary = "one pass in the dtype, plain stores",
                                   .prepare = integer_launch},
                            __FILE__);
    }
  }

 private:
  std::list<RegisteredKernel> kernels_;
};

const IntegerKernels kNative({"trunc_divide", "floor_divide", "bitwise_and", "bitwise_or",
                              "bitwise_xor", "bitwise_not"});

}  // namespace

Launch integer_launch(const Problem& problem) {
  const auto* const found =
      std::find_if(std::begin(kLoops), std::end(kLoops),
                   [&](const NamedLoop& named) { return named.op == problem.op->name; });
  if (found == std::end(kLoops)) {
    throw std::logic_error("no integer loop for " + std::string(problem.op->name));
  }
  return broadcast_launch(problem, [loop = found->loop, dtype = problem.inputs[0].dtype](
                                       const ElementwisePart& part) { loop(dtype, part); });
}

}  // namespace opbench
