// What code refers to: jumps, tables, constants, text, a thread's own, a library.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "inline.h"

extern "C" {
double second_sum(const double* values, int count);

thread_local int calls = 0;

namespace {

const double kSteps[] = {0.5, 1.5, 2.5, 4.5};

double half(double x) { return x / 2; }
double twice(double x) { return x * 2; }
using Function = double (*)(double);
Function const kFunctions[] = {half, twice, std::sin, std::cos};

// A function of its own, with a jump for each case.
__attribute__((noinline)) const char* word(int number) {
  switch (number) {
    case 0:
      return "zero";
    case 1:
      return "one";
    case 2:
      return FIRST_TWO;
    case 3:
      return "three";
    case 4:
      return "four";
    case 5:
      return "five";
    default:
      return "many";
  }
}

__attribute__((noinline)) double jump(int number, double x) {
  switch (number) {
    case 0:
      return x + 1;
    case 1:
      return std::sin(x);
    case 2:
      return std::cos(x) - x;
    case 3:
      return std::floor(x * 7);
    case 4:
      return x * x * x;
    case 5:
      return std::fabs(x) + std::log(x);
    default:
      return FIRST_OTHER;
  }
}

}  // namespace

int first_word(int number) { return static_cast<int>(std::strlen(word(number))); }

double first_jump(int number, double x) { return jump(number, x) + ++calls; }

double first_table(int number, double x) {
  double sum = 0;
  for (const double* step = kSteps; step != kSteps + 4; ++step) sum += *step * x;
  const library::Counted counted(number);
  sum += library::series(kSteps, number & 3);
  return kFunctions[number & 3](sum);
}

double first_calls_second(const double* values, int count) {
  return second_sum(values, count) * 1.25 + first_table(count, 0.75);
}
}
