#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "tensor/error.h"
#include "text/packed.h"
#include "workers/dispatch.h"

namespace opbench {
namespace {

// A result that took longer than this must leave this process before the next unit begins, so that
// a crash does not lose it. Results of tiny units may be in transit during the next unit.
constexpr double kTinySeconds = 0.02;

void answer(Ranks& ranks, std::uint64_t number, const UnitOutcome& outcome, std::string result) {
  Packer packer;
  packer.add(number);
  packer.add(outcome.seconds);
  packer.add(outcome.error.empty() ? result : outcome.error);
  const LetterKind kind = outcome.error.empty() ? LetterKind::result : LetterKind::failure;
  if (outcome.seconds < kTinySeconds)
    ranks.send(0, kind, packer.take());
  else
    ranks.deliver(0, kind, packer.take());
}

void do_units(Ranks& ranks, const UnitWork& work, std::string_view text) {
  for (Unpacker units(text); !units.is_empty();) {
    const auto number = units.get<std::uint64_t>();
    const std::string unit = units.get_text();
    UnitOutcome outcome;
    std::string result = do_unit(work, unit, outcome);
    answer(ranks, number, outcome, std::move(result));
  }
}

}  // namespace

std::size_t UnitQueue::add(std::string unit, double seconds) {
  constexpr double kLeastSeconds = 1e-9;  // gives every unit a share of the remaining cost
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

std::string do_unit(const UnitWork& work, std::string_view unit, UnitOutcome& outcome) {
  const auto begin = std::chrono::steady_clock::now();
  std::string result;
  try {
    result = work(unit);
  } catch (const std::bad_alloc&) {
    outcome.error = "out of memory";
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

bool serve(Ranks& ranks, std::string_view plan, const UnitWork& work) {
  ranks.deliver(0, LetterKind::ready, std::string(plan));
  for (Nap nap;;) {
    const auto letter = ranks.receive();
    if (!letter) {
      ranks.require_all();
      nap.sleep();
      continue;
    }
    nap.reset();
    switch (static_cast<LetterKind>(letter->text.front())) {
      case LetterKind::units:
        do_units(ranks, work, std::string_view(letter->text).substr(1));
        break;
      case LetterKind::pause:
        return true;
      case LetterKind::dismiss:
        ranks.note_leave(0);
        return false;
      default:
        break;
    }
  }
}

}  // namespace opbench
