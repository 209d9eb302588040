#include "cli/compared_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/cli.h"
#include "harness/report/compare_runs.h"
#include "harness/run/artefact.h"

namespace opbench {
namespace {

using CaseVariant = std::pair<std::string, std::string>;

std::string note_of(const DumpRecord& record, std::string_view name) {
  const auto found = std::find_if(record.notes.begin(), record.notes.end(),
                                  [&](const Note& note) { return note.name == name; });
  return found == record.notes.end() ? std::string() : found->value;
}

// The largest error of recorded outputs of each case and variant.
std::map<CaseVariant, double> output_errors(const Comparison& comparison) {
  std::map<CaseVariant, double> errors;
  for (const OperatorResult& op : comparison.operators) {
    if (op.actual == nullptr || !op.output_error) continue;
    double& error =
        errors[{note_of(*op.actual, "opbench_case"), note_of(*op.actual, "opbench_variant")}];
    error = std::max(error, *op.output_error);
  }
  return errors;
}

}  // namespace

bool are_runs(DumpComparison& comparison) {
  return comparison.actual().has_attachments() && comparison.expected().has_attachments();
}

int compare_two_runs(DumpComparison& measured, CommandContext& context) {
  const ResultsFile first = Artefact(measured.actual().name()).results();
  const ResultsFile second = Artefact(measured.expected().name()).results();
  const auto errors = output_errors(measured.comparison());
  const auto error_of = [&](const Record& record) -> std::optional<double> {
    const auto found = errors.find({record.case_id, record.variant});
    return found == errors.end() ? std::nullopt : std::optional(found->second);
  };
  const report::RunDifferences found = report::compare_runs(context.out, first, second, error_of,
                                                            context.verbose, {context.colour()});
  if (found.pairs == 0) {
    context.complain(fmt::format("{} and {} have no timed result in common",
                                 measured.actual().name(), measured.expected().name()));
    return kNothingToJudge;
  }
  return found.worse > 0 || found.only_second > 0 ? kVerdictFailed : kAllWell;
}

}  // namespace opbench
