#include <algorithm>
#include <utility>

#include "workers/dispatch.h"

namespace opbench {

std::size_t UnitQueue::add(std::string unit, double seconds) {
  constexpr double kLeastSeconds = 1e-9;  // each has its share of what is left
  seconds = std::max(seconds, kLeastSeconds);
  waiting_.emplace(seconds, Unit{added_, seconds, std::move(unit)});
  seconds_ += seconds;
  return added_++;
}

UnitQueue::Unit UnitQueue::take() {
  Unit unit = std::move(waiting_.begin()->second);
  waiting_.erase(waiting_.begin());
  seconds_ = waiting_.empty() ? 0 : seconds_ - unit.seconds;
  return unit;
}

}  // namespace opbench
