// Functions of the C library, element by element.
#include <cmath>

#include "kernels/formula.h"

namespace opbench {
namespace {

void sine(const Numbers&, std::size_t count, const float* const* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = std::sin(x[0][i]);
}
void cosine(const Numbers&, std::size_t count, const float* const* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = std::cos(x[0][i]);
}
void sine_grad(const Numbers&, std::size_t count, const float* const* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = x[0][i] * std::cos(x[1][i]);
}
void cosine_grad(const Numbers&, std::size_t count, const float* const* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = -x[0][i] * std::sin(x[1][i]);
}
void error_function(const Numbers&, std::size_t count, const float* const* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = std::erf(x[0][i]);
}
void raised(const Numbers&, std::size_t count, const float* const* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = std::pow(x[0][i], x[1][i]);
}

constexpr Formula kFormulas[] = {{"sin", sine},           {"cos", cosine},
                                 {"sin_grad", sine_grad}, {"cos_grad", cosine_grad},
                                 {"erf", error_function}, {"pow_tensor", raised}};

Launch prepare(const Problem& problem) { return formula_launch(problem, kFormulas, false); }

const NativeFormulas kNative(prepare, false, {"sin", "cos", "sin_grad", "cos_grad", "erf"});
const NativeFormulas kBroadcast(prepare, true, {"pow_tensor"});

}  // namespace
}  // namespace opbench
