// Times that others have published for the steps of a context, next to those of this run.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/report/step_table.h"
#include "harness/report/text.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

double bytes_moved(const StepDetails& step) {
  double bytes = 0;
  for (const TaskTime& task : step.tasks) {
    for (const TensorDesc& desc : task.inputs) bytes += static_cast<double>(desc.bytes());
    for (const TensorDesc& desc : task.outputs) bytes += static_cast<double>(desc.bytes());
  }
  return bytes;
}

double ms_per_sample(const StepDetails& step) {
  return step.published.ms / static_cast<double>(step.published.samples);
}

// "1100, 600 ms for 512 samples; 300 ms for 1024 samples"
std::string listed(const ContextSteps& steps) {
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const PublishedTime& time = steps[i]->step->published;
    text += fmt::format("{:g}", time.ms);
    const bool is_last = i + 1 == steps.size();
    if (!is_last && steps[i + 1]->step->published.samples == time.samples) {
      text += ", ";
      continue;
    }
    text += fmt::format(" ms for {}{}", counted(time.samples, "sample"), is_last ? "" : "; ");
  }
  return text;
}

// The part of the published saving that the bytes explain which the last step no longer moves.
std::string explained(const StepDetails& first, const StepDetails& last) {
  const auto samples = static_cast<double>(last.published.samples);
  const double saved_ms = (ms_per_sample(first) - ms_per_sample(last)) * samples;
  const double bytes = samples * (bytes_moved(first) / static_cast<double>(first.samples) -
                                  bytes_moved(last) / static_cast<double>(last.samples));
  if (!(saved_ms > 0)) return "No time was saved there.";
  if (!(bytes > 0)) return fmt::format("No fewer bytes: nothing explains {:.0f} ms.", saved_ms);
  std::string text =
      fmt::format("{} fewer to move, scaled to {:g} samples,", byte_size_text(bytes), samples);
  if (!(last.published.gb_per_s > 0)) return text + ".";
  const double explained_ms = bytes / last.published.gb_per_s / 1e6;
  text +=
      fmt::format(" take {:.3g} ms at {:g} GB/s, {:.2g} % of the {:.0f} ms saved there",
                  explained_ms, last.published.gb_per_s, 100 * explained_ms / saved_ms, saved_ms);
  return text + (explained_ms < saved_ms ? "; these counts do not explain the rest." : ".");
}

}  // namespace

std::string published_text(const ContextSteps& all) {
  ContextSteps steps;
  std::copy_if(all.begin(), all.end(), std::back_inserter(steps),
               [](const Record* record) { return record->step->published.ms > 0; });
  if (steps.empty()) return {};
  std::string text =
      fmt::format("Published ({}): {}.", steps.back()->step->published.source, listed(steps));
  std::erase_if(steps, [](const Record* record) { return record->step->nodes == 0; });
  if (steps.size() < 2) return text;
  const StepDetails &first = *steps.front()->step, &last = *steps.back()->step;
  text +=
      fmt::format(" Per sample {} there", factor_text(ms_per_sample(first) / ms_per_sample(last)));
  if (first.us_per_sample > 0 && last.us_per_sample > 0) {
    text += fmt::format(", {} here", factor_text(first.us_per_sample / last.us_per_sample));
  }
  return text + fmt::format(". TransData {} to {}, Cast {} to {}, copies {} to {}. {}",
                            first.trans_data, last.trans_data, first.casts, last.casts,
                            first.copies, last.copies, explained(first, last));
}

}  // namespace opbench::report
