#include "harness/check/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/plan/case_selection.h"
#include "harness/report/text.h"
#include "harness/run/samples.h"
#include "text/program.h"

namespace opbench::check {
namespace {

/// A measure of error. It may grow by half plus one unit.
struct Measure {
  const char* what;
  const char* unit;
  double before, now, one;

  double allowed() const { return 1.5 * before + one; }
};

// If a result is a cancelling difference, it has few correct bits although its absolute error is
// small, so its ULP error may hide a growth. The least tolerance is relative to the scale of the
// expected values, and the largest error to the value that has it.
std::vector<Measure> measures_of(const OpenedVariant& base, const OpenedVariant& current) {
  constexpr double kShare = 1e-3;
  const Accuracy &a = *base.accuracy, &b = *current.accuracy;
  std::vector<Measure> measures = {{"largest error", " ULP", a.max_ulp, b.max_ulp, 1},
                                   {"mean error", " ULP", a.mean_ulp, b.mean_ulp, 1},
                                   {"share of elements outside the tolerance", "",
                                    1 - a.inside_share, 1 - b.inside_share, kShare}};
  const bool has_tolerance = current.epsilon > 0 && base.epsilon > 0;
  if (!has_tolerance) return measures;
  measures.push_back(
      {"least tolerance that would pass", "", a.min_tolerance, b.min_tolerance, current.epsilon});
  if (b.min_tolerance > 0) {
    const double size = b.max_abs / b.min_tolerance;
    measures.push_back(
        {"largest absolute error", "", a.max_abs, b.max_abs, current.epsilon * size});
  }
  return measures;
}

bool is_right(const OpenedVariant* variant) {
  return variant != nullptr &&
         (variant->status == Status::passed || variant->status == Status::mistrusted ||
          variant->status == Status::suspicious || variant->status == Status::unverified);
}

std::string state_text(const OpenedVariant* variant) {
  if (variant == nullptr) return "not there";
  return variant->reason.empty() ? std::string(name(variant->status))
                                 : fmt::format("{} ({})", name(variant->status), variant->reason);
}

bool settle(CheckedItem& item, ChangeVerdict verdict, std::string evidence, bool is_regression) {
  item.verdict = verdict;
  item.evidence = std::move(evidence);
  item.is_regression = is_regression;
  return false;
}

// Different bits are wrong for an operator whose result is defined bit for bit. For others they may
// be equally good.
bool compare_bits(CheckedItem& item, const OpenedVariant& base, const OpenedVariant& current,
                  bool is_strict) {
  if (base.bits == current.bits || base.bits.empty() || current.bits.empty()) return true;
  const char* const kChanged = "the bits of the results changed";
  if (current.is_exact || is_strict) {
    return settle(
        item, ChangeVerdict::error,
        fmt::format(
            "{}{}", kChanged,
            current.is_exact ? ", and the result of its operator is defined bit for bit" : ""),
        true);
  }
  item.notices.emplace_back(kChanged);
  return true;
}

bool compare_errors(CheckedItem& item, const OpenedVariant& base, const OpenedVariant& current,
                    bool is_strict) {
  if (base.status == Status::passed && current.status == Status::mistrusted) {
    item.notices.push_back(fmt::format("passed before, now {}", state_text(&current)));
  }
  if (!base.accuracy || !current.accuracy) return true;
  item.base_accuracy = base.accuracy;
  item.current_accuracy = current.accuracy;
  item.base_bits = base.bits;
  item.current_bits = current.bits;
  for (const Measure& measure : measures_of(base, current)) {
    if (measure.now <= measure.allowed()) continue;
    item.is_error_growth = true;
    return settle(
        item, ChangeVerdict::error,
        fmt::format("its {} grew from {:.4g} to {:.4g}{}; up to {:.4g} are allowed", measure.what,
                    measure.before, measure.now, measure.unit, measure.allowed()),
        true);
  }
  return compare_bits(item, base, current, is_strict);
}

}  // namespace

bool is_absent(const OpenedVariant* variant) {
  return variant == nullptr || variant->status == Status::skipped;
}

bool judge_conversions(CheckedItem& item, const OpenedVariant& base, const OpenedVariant& current) {
  item.base_conversions = base.conversions;
  item.current_conversions = current.conversions;
  if (!base.conversions || !current.conversions) return true;
  std::vector<std::string> more, less;
  const auto compare = [&](std::string_view what, double before, double now) {
    if (now == before) return;
    (now > before ? more : less).push_back(fmt::format("{:.0f} {}, was {:.0f}", now, what, before));
  };
  const Conversions &a = *base.conversions, &b = *current.conversions;
  compare("TransData", a.trans_data, b.trans_data);
  compare("bytes of TransData", a.trans_data_bytes, b.trans_data_bytes);
  compare("Cast", a.casts, b.casts);
  compare("copies", a.copies, b.copies);
  for (std::string& text : less) item.notices.push_back(std::move(text));
  if (more.empty()) return true;
  return settle(item, ChangeVerdict::error, fmt::format("converts more: {}", fmt::join(more, "; ")),
                true);
}

namespace {

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Flags that select the item.
Words selection_flags(const CheckedItem& item) {
  if (!item.context) return {"--case", item.case_key};
  const ContextSource& context = *item.context;
  Words words = {"--cases", context.file, "--filter", pattern_of_name(context.name)};
  for (const auto& [symbol, value] : context.symbols) {
    append(words, {"--set", fmt::format("{}={}", symbol, value)});
  }
  append(words, {"--dtype", std::string(name(context.dtype))});
  return words;
}

}  // namespace

std::string next_command(const CheckedItem& item, const WorkerProgram& base,
                         const std::vector<std::string>& how) {
  if (is_well(item.verdict)) return {};
  const bool is_speed =
      item.verdict == ChangeVerdict::slower || item.verdict == ChangeVerdict::ambiguous;
  const bool is_of_base = item.verdict == ChangeVerdict::gone;
  Words words = {is_of_base ? base.path : program_name()};
  if (is_speed) append(words, {"check", "--against", base.path});
  if (is_speed && !base.directory.empty()) append(words, {"--against-directory", base.directory});
  append(words, selection_flags(item));
  if (!item.variant.empty()) append(words, {"--variant", item.variant});
  append(words, {"--threads", fmt::format("{}", item.threads)});
  append(words, how);
  if (item.is_first_call && is_speed) words.emplace_back("--cold-start");
  const bool is_elsewhere = is_of_base && !base.directory.empty();
  return (is_elsewhere ? shell_line(Words{"cd", base.directory}) + " && " : "") + shell_line(words);
}

bool judge_accuracy(CheckedItem& item, const OpenedVariant* base, const OpenedVariant* current,
                    bool is_strict) {
  if (is_right(base) && is_right(current)) {
    return compare_errors(item, *base, *current, is_strict);
  }
  if (is_absent(current)) {
    return settle(item, ChangeVerdict::gone,
                  fmt::format("{} in the baseline, here {}", state_text(base), state_text(current)),
                  is_right(base));
  }
  if (is_right(current)) {
    return settle(item, ChangeVerdict::new_,
                  fmt::format("{} in the baseline, here {}", state_text(base), state_text(current)),
                  false);
  }
  if (is_right(base)) {
    return settle(item, ChangeVerdict::error,
                  fmt::format("lost its verdict: {} in the baseline, here {}", state_text(base),
                              state_text(current)),
                  true);
  }
  if (is_absent(base)) {
    return settle(item, ChangeVerdict::new_, fmt::format("new, and {}", state_text(current)),
                  false);
  }
  item.is_unfinished = current->status == Status::errored;
  return settle(
      item, item.is_unfinished ? ChangeVerdict::error : ChangeVerdict::incomparable,
      fmt::format("not timed: {} in the baseline, here {}", state_text(base), state_text(current)),
      false);
}

}  // namespace opbench::check
