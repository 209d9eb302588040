#include <utility>

#include "ranks/dispatch.h"

namespace opbench {

std::size_t UnitQueue::add(std::string unit, double seconds) {
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

double DispatchState::efficiency() const {
  return wall_seconds > 0 ? busy_seconds / (workers * wall_seconds) : 0;
}

}  // namespace opbench
