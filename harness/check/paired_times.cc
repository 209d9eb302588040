#include "harness/check/paired_times.h"

#include <cmath>

namespace opbench::check {
namespace {

template <class T>
void append_to(std::vector<T>& values, const std::vector<T>& more) {
  values.insert(values.end(), more.begin(), more.end());
}

}  // namespace

void PairedTimes::Stage::add(double base, double current, int pair_number) {
  base_us.push_back(base);
  current_us.push_back(current);
  pair.push_back(pair_number);
}

void PairedTimes::Stage::append(const Stage& more) {
  append_to(base_us, more.base_us);
  append_to(current_us, more.current_us);
  append_to(pair, more.pair);
  append_to(null_us, more.null_us);
}

void PairedTimes::Stage::cut(std::size_t rounds) {
  base_us.resize(rounds);
  current_us.resize(rounds);
  pair.resize(rounds);
  if (null_us.size() > rounds) null_us.resize(rounds);
}

PairedTimes::Stage PairedTimes::decisive() const {
  if (verdict.empty()) return screening;
  Stage later = verdict;
  later.append(confirmation);
  return later;
}

PairedTimes::Stage PairedTimes::all() const {
  Stage every = screening;
  every.append(verdict);
  every.append(confirmation);
  return every;
}

std::vector<double> log_ratios(const PairedTimes::Stage& stage) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < stage.base_us.size(); ++i) {
    ratios.push_back(std::log(stage.current_us[i] / stage.base_us[i]));
  }
  return ratios;
}

}  // namespace opbench::check
