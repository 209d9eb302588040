#include "harness/run/unit_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <istream>
#include <optional>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "harness/run/join_results.h"
#include "harness/run/results_file.h"
#include "harness/run/runner.h"
#include "harness/run/timing.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "workers/elapsed.h"
#include "workers/interrupt.h"
#include "workers/measuring_turn.h"

namespace opbench::units {
namespace {

using Clock = std::chrono::steady_clock;

// Time for planning a large run and reading its case files again.
constexpr double kSecondsToStart = 600;
// Others may hold the turn for any time, and may be suspended meanwhile.
constexpr double kLongestTurn = 30.0 * 24 * 3600;

// Lines of a unit process, in addition to its results.
constexpr const char* kWaits = "waits";
constexpr const char* kHasTurn = "has its turn";
constexpr std::string_view kBegins = "begins ";

// Microseconds since 1970 of a time of the measuring clock. The system clock is read once, so that
// units stay in order if it is set.
std::int64_t since_1970(double measuring_us) {
  static const double zero =
      std::chrono::duration<double, std::micro>(std::chrono::system_clock::now().time_since_epoch())
          .count() -
      measuring_clock_us();
  return std::llround(zero + measuring_us);
}

// "12", followed by the name of each crashed variant and its crash, all separated by tabs.
std::string request_of(std::size_t unit, const std::map<std::string, std::string>& crashed) {
  std::string text = std::to_string(unit);
  for (const auto& [variant, how] : crashed) {
    text += fmt::format("\t{}\t{}", variant, printable(how));
  }
  return text;
}

std::map<std::string, std::string> crashed_of(const std::string& request) {
  std::map<std::string, std::string> crashed;
  std::istringstream words(request.substr(std::min(request.size(), request.find('\t') + 1)));
  if (request.find('\t') == std::string::npos) return crashed;
  for (std::string variant, how; std::getline(words, variant, '\t');) {
    if (std::getline(words, how, '\t')) crashed[variant] = how;
  }
  return crashed;
}

}  // namespace

UnitResult run_unit(const UnitPlan& plan, std::size_t unit, const RunOptions& options,
                    const RunHooks& hooks) {
  const Clock::time_point start = Clock::now();
  const double began = measuring_clock_us();
  UnitResult result;
  result.began_us = since_1970(began);
  result.unit = unit;
  result.id = plan.units.at(unit).id;
  result.run = run_units({&plan.units[unit], 1}, options, hooks);
  shift_samples(result.run, -began);
  result.seconds = seconds_since(start);
  return result;
}

UnitResult lost_unit(const UnitPlan& plan, std::size_t unit, const RunOptions& options,
                     const std::string& reason, double seconds) {
  RunHooks hooks;
  const WorkUnit& lost = plan.units.at(unit);
  for (std::size_t i = 0; i < lost.size(); ++i) hooks.crashed[lost.selection(i).variant] = reason;
  UnitResult result = run_unit(plan, unit, options, hooks);
  result.began_us = since_1970(measuring_clock_us() - 1e6 * seconds);
  result.seconds = result.run.times.total = seconds;
  return result;
}

UnitChild::UnitChild(std::vector<std::string> args, const UnitPlan& plan, const RunOptions& options,
                     double seconds)
    : args_(std::move(args)), plan_(plan), options_(options), seconds_(seconds) {}

void UnitChild::start() {
  process_ = std::make_unique<ChildProcess>(args_);
  const std::string digest = process_->read_line(kSecondsToStart);
  if (digest != plan_.digest) {
    throw Error(
        fmt::format("a process for units has plan {}, and this is plan {}: has a case file "
                    "changed meanwhile?",
                    digest, plan_.digest));
  }
}

std::string UnitChild::read_answer() {
  Patience patience(seconds_);
  while (true) {
    std::string line = process_->read_line(patience);
    if (line.starts_with(kBegins)) {
      running_ = line.substr(kBegins.size());
      continue;
    }
    if (line != kWaits) return line;
    if (line = process_->read_line(kLongestTurn); line != kHasTurn) return line;
    patience.skip();
  }
}

UnitResult UnitChild::attempt(std::size_t unit, const std::map<std::string, std::string>& crashed) {
  process_->write_line(request_of(unit, crashed), seconds_);
  running_.clear();
  const std::string line = read_answer();
  try {
    UnitResult result = parse_unit_line(line, "", kResultsVersion);
    if (result.unit == unit && !result.run.was_interrupted) return result;
  } catch (const Error&) {
    // A kernel has printed to the stream, or has corrupted the line.
    constexpr std::size_t kLongest = 80;
    throw ChildLost(fmt::format("gave an answer that cannot be read: '{}'",
                                printable(excerpt(line, kLongest))));
  }
  throw ChildLost("gave no result");
}

UnitResult UnitChild::run(std::size_t unit) {
  const Clock::time_point begin = Clock::now();
  std::map<std::string, std::string> crashed;
  while (true) {
    if (!process_) start();
    try {
      return attempt(unit, crashed);
    } catch (const ChildLost& lost) {
      process_.reset();
      if (lost.was_late) {
        return lost_unit(plan_, unit, options_,
                         fmt::format("it took longer than {:g} s (--unit-timeout), and its "
                                     "process was ended",
                                     seconds_),
                         seconds_since(begin));
      }
      const bool is_one_more =
          !running_.empty() &&
          crashed.try_emplace(running_, fmt::format("crashed: its process {}", lost.how)).second;
      if (is_one_more) continue;  // run the others again, without this variant
      return lost_unit(plan_, unit, options_, fmt::format("its process {}", lost.how),
                       seconds_since(begin));
    }
  }
}

void serve_units(const UnitPlan& plan, const RunOptions& options, bool takes_turns,
                 std::istream& in, std::ostream& out) {
  RunHooks hooks;
  std::optional<MeasuringTurns> turns;
  if (takes_turns) {
    turns.emplace(measuring_turns_file(),
                  [&](bool waits) { out << (waits ? kWaits : kHasTurn) << std::endl; });
    hooks.turns = &*turns;
  }
  hooks.begins = [&](const std::string& variant) {
    out << kBegins << printable(variant) << std::endl;
  };
  out << plan.digest << std::endl;
  for (std::string line; !interrupted() && std::getline(in, line);) {
    hooks.crashed = crashed_of(line);
    const UnitResult result = run_unit(plan, std::stoul(line), options, hooks);
    out << unit_line(result) << std::flush;
  }
}

}  // namespace opbench::units
