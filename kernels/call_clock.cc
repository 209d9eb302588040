#include "kernels/call_clock.h"

#include <utility>

namespace opbench {
namespace {

// Kernels are called by one thread.
OutsideSeconds total;
bool is_cold = false;
int place_now = 0;

}  // namespace

const OutsideSeconds& outside_seconds() { return total; }

void add_outside_seconds(const OutsideSeconds& seconds) {
  total.uncounted += seconds.uncounted;
  total.launch += seconds.launch;
}

void request_cold_calls() { is_cold = true; }

void choose_place(int place) { place_now = place; }

int chosen_place() { return place_now; }

bool takes_cold_call() { return std::exchange(is_cold, false); }

}  // namespace opbench
