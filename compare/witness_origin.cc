#include "compare/witness_origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compare/witness_elements.h"
#include "judge/hidden_faults.h"
#include "judge/stored_values.h"
#include "text/filled.h"

namespace opbench {
namespace {

// The output of the call with the finding; -1 if the finding is of another call.
std::ptrdiff_t output_of(const RecordedCall& call, const OutputFinding& finding) {
  if (call.problem.op->name != finding.op) return -1;
  const auto found = std::find_if(call.outputs.begin(), call.outputs.end(), [&](const auto* entry) {
    return entry != nullptr && entry->path == finding.path;
  });
  return found == call.outputs.end() ? -1 : found - call.outputs.begin();
}

}  // namespace

std::optional<GuiltyCall> guilty_call(DumpSource& file, const DumpRecord& record,
                                      const OpTable& table, const JudgeOptions& options,
                                      JudgedRecord& judged) {
  judged = judge_record(file, record, table, options);
  if (judged.ruling != Ruling::guilty) return std::nullopt;
  const OutputFinding& finding = *judged.worst();
  const RecordedCalls calls = calls_of(
      record, table, [&](const DumpEntry& entry) { return recorded_numbers(file, entry); },
      Results::recorded, TakenDTypes::of_reference);
  for (const RecordedCall& call : calls.calls) {
    const std::ptrdiff_t output = output_of(call, finding);
    if (output < 0) continue;
    const auto place = static_cast<std::size_t>(output);
    Witness witness = make_witness(LoadedCall::load(file, call), place, finding);
    WitnessOrigin origin{
        file.name(),       judged, finding, call.problem.inputs, call.problem.outputs[place],
        witness.elements()};
    return GuiltyCall{std::move(origin), std::move(witness)};
  }
  return std::nullopt;
}

std::string headline(const WitnessOrigin& origin, const Witness& witness) {
  return fmt::format("{} as {}, {}, of {}, {}: cut from {} to {} elements",
                     without_escapes(origin.record.path()), witness.problem().op->name,
                     name(witness.recorded().desc.dtype), without_escapes(origin.file),
                     origin.record.device, origin.elements, witness.elements());
}

std::string bound_text(const Witness& witness) {
  const OutputFinding& finding = witness.finding;
  const ElementBound bound = bound_of(witness.problem(), finding, witness.output);
  if (bound.is_exact) return "every element is the same";
  const std::string text = fmt::format("|actual - expected| <= {:.6g} + {:.6g} * |expected|",
                                       bound.allowed, bound.share);
  if (!finding.is_leaning) return text;
  return fmt::format("{}, and errors are below {} units in the last place on average", text,
                     kLeaning);
}

}  // namespace opbench
