#include <cmath>

#include "inline.h"

namespace opbench {

// There are copies of this one, too, but it is ours and may change.
__attribute__((noinline)) inline double share(double x) { return std::exp(x) / SECOND_DIVISOR; }

}  // namespace opbench

namespace {

const double kSteps[] = {0.25, 0.75, 1.75, 3.25, 9.5};

// The name of another one in the other file.
__attribute__((noinline)) double half(double x) { return x / SECOND_DIVISOR; }

}  // namespace

extern "C" {

double second_sum(const double* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += half(values[i]) * kSteps[i % 5];
  return sum;
}

double second_alone(double x) {
  const library::Counted counted(static_cast<int>(x));
  return opbench::share(x) + library::series(kSteps, counted.count & 3);
}
}
