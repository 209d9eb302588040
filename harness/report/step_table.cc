#include "harness/report/step_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "harness/report/text.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

constexpr double kMiB = 1 << 20;

// Uses MiB for a whole column, unless a number becomes too long.
std::string mebibytes(double bytes) {
  return bytes < 1024 * kMiB ? fmt::format("{:.1f} MiB", bytes / kMiB) : byte_size_text(bytes);
}

std::string trans_data_text(const StepDetails& step) {
  if (step.trans_data == 0) return "0";
  return fmt::format("{}, {}", step.trans_data, mebibytes(step.trans_data_bytes));
}

bool has_gradient_errors(const ContextSteps& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const Record* r) { return r->step->gradient_error.has_value(); });
}

bool has_published_times(const ContextSteps& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const Record* r) { return r->step->published.ms > 0; });
}

bool samples_differ(const ContextSteps& steps) {
  double common = 0;
  for (const Record* r : steps) {
    if (!r->is_timed() || !(r->step->us_per_sample > 0)) continue;
    const double samples = std::round(r->times->median_us / r->step->us_per_sample);
    if (common > 0 && samples != common) return true;
    common = samples;
  }
  return false;
}

// The number of the step that it builds on; 0: no such step.
std::size_t number_before(const ContextSteps& steps, const Record& record) {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const Record* other) {
    return !record.step->after.empty() && other->variant == record.step->after;
  });
  return found == steps.end() ? 0 : static_cast<std::size_t>(found - steps.begin()) + 1;
}

bool is_straight(const ContextSteps& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (number_before(steps, *steps[i]) != i) return false;
  }
  return true;
}

// Notes on a step that passed.
std::vector<std::string> notes_of(const ContextSteps& steps, const Record& record) {
  const StepDetails& step = *record.step;
  std::vector<std::string> notes;
  const std::size_t before = number_before(steps, record);
  if (before > 0 && is_equal_within_noise(record, *steps[before - 1])) {
    notes.push_back("equal within noise to " + step.after);
  }
  if (step.has_overflow) notes.emplace_back("overflow");
  if (step.skipped_updates > 0) {
    notes.push_back(counted(step.skipped_updates, "update") + " skipped");
  }
  if (step.loss_scale > 0) notes.push_back(fmt::format("loss scale {:g}", step.loss_scale));
  return notes;
}

}  // namespace

std::vector<ContextSteps> steps_by_context(std::span<const Record> records) {
  std::map<std::tuple<std::string, int, std::string, bool>, std::size_t> places;
  std::vector<ContextSteps> contexts;
  for (const Record& r : records) {
    if (!r.step) continue;
    const auto [place, is_new] =
        places.try_emplace({r.case_id, r.threads, r.isa, r.cold}, contexts.size());
    if (is_new) contexts.emplace_back();
    contexts[place->second].push_back(&r);
  }
  return contexts;
}

TextTable step_table(const ContextSteps& steps) {
  const bool has_samples = samples_differ(steps), has_before = !is_straight(steps);
  const bool has_errors = has_gradient_errors(steps), has_published = has_published_times(steps);
  double shortest = std::numeric_limits<double>::infinity(), shortest_sample = shortest;
  for (const Record* r : steps) {
    if (!r->is_timed()) continue;
    shortest = std::min(shortest, r->times->median_us);
    shortest_sample = std::min(shortest_sample, r->step->us_per_sample);
  }
  const TimeUnit unit = unit_for(shortest), sample_unit = unit_for(shortest_sample);
  TextTable table{
      .columns = columns_of(fmt::format(
          ">#|step|>time|>spread|{}{}>TransData|>Cast|>copies|>peak|{}{}>v. before|>v. first",
          has_samples ? ">per sample|" : "", has_published ? ">published|" : "",
          has_errors ? ">grad error|" : "", has_before ? ">after|" : "")),
      .name = 1};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Record& r = *steps[i];
    const StepDetails& step = *r.step;
    TextTable::Row& row = table.rows.emplace_back();
    const auto add = [&](bool is_known, const auto& text) {
      row.push_back(is_known ? text() : std::string("-"));
    };
    if (r.is_best) table.best.push_back(i);
    row = {std::to_string(i + 1), r.variant};
    add(r.is_timed(), [&] { return time_text(r.times->median_us, unit); });
    row.push_back(spread_text(r));
    if (has_samples) add(r.is_timed(), [&] { return time_text(step.us_per_sample, sample_unit); });
    if (has_published) {
      add(step.published.ms > 0, [&] { return fmt::format("{:g} ms", step.published.ms); });
    }
    const bool is_planned = step.nodes > 0;  // else it cannot run here
    add(is_planned, [&] { return trans_data_text(step); });
    add(is_planned, [&] { return std::to_string(step.casts); });
    add(is_planned, [&] { return std::to_string(step.copies); });
    add(is_planned, [&] { return mebibytes(static_cast<double>(step.peak_bytes)); });
    const std::optional<double>& error = step.gradient_error;
    if (has_errors) add(error.has_value(), [&] { return fmt::format("{:.2g} %", 100 * *error); });
    const std::size_t before = number_before(steps, r);
    if (has_before) add(before > 0, [&] { return std::to_string(before); });
    row.push_back(ratio_text(r, step.speedup_over_previous));
    row.push_back(ratio_text(r, step.speedup_over_first));
  }
  return table;
}

bool is_equal_within_noise(const Record& step, const Record& before) {
  if (!step.is_timed() || !before.is_timed() || !(step.step->us_per_sample > 0)) return false;
  double squares = 0;
  for (const Record* record : {&step, &before}) {
    if (record->times->samples.size() < 3) return false;
    const double error = relative_error(*record->times);
    squares += error * error;
  }
  const double ratio = before.step->us_per_sample / step.step->us_per_sample;
  return std::fabs(ratio - 1) <= 2 * ratio * std::sqrt(squares);
}

std::string step_verdict(const ContextSteps& steps, std::size_t i) {
  const Record& record = *steps[i];
  std::string text = status_text(record);
  if (!record.reason.empty()) text += fmt::format(": {}", record.reason);
  const char* separator = record.reason.empty() ? ", " : "; ";
  std::vector<std::string> notes = notes_of(steps, record);
  if (std::string noise = noise_text(record); !noise.empty()) notes.push_back(std::move(noise));
  for (const std::string& note : notes) {
    text += separator + note;
    separator = ", ";
  }
  return text;
}

std::string context_title(const Record& first) { return with_short_lists(first.case_id); }

std::string context_details(const Record& first) {
  std::string text;
  for (const std::string& part :
       {first.case_name.empty() ? "" : name_text(first), with_short_lists(first.shape),
        with_short_lists(first.attributes), std::string(first.backward ? "forward+backward" : ""),
        counted(first.threads, "thread"), std::string(first.cold ? "cold" : "")}) {
    if (!part.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", part);
  }
  return text;
}

}  // namespace opbench::report
