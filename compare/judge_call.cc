#include "compare/judge_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "judge/failure_pattern.h"
#include "judge/held_output.h"
#include "judge/hidden_faults.h"
#include "judge/narrow_operands.h"
#include "judge/stored_values.h"

namespace opbench {
namespace {

/// An output and what is expected of it, with the inputs that may tell which elements are wrong.
class Departure {
 public:
  // An element is wrong by itself if it has other bits, of what is exact, else beyond what the
  // tensor was held to.
  Departure(const CallUnderJudgement& call, std::size_t output, const void* storage,
            const AllowedError& bound)
      : desc_(call.problem().outputs[output]),
        actual_(values_of(desc_, storage)),
        expected_(expected_values(call, output)),
        bound_(bound) {
    const Op& op = *call.problem().op;
    if (!op.mixes_elements()) read_inputs(call);
  }

  DepartedValues values() const {
    return {actual_, expected_, desc_.shape, bound_.allowed, bound_.share, inputs_};
  }

 private:
  void read_inputs(const CallUnderJudgement& call) {
    const Problem& problem = call.problem();
    values_.reserve(problem.inputs.size());
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
      const TensorDesc& desc = problem.inputs[i];
      if (desc.shape != desc_.shape || !is_floating(desc.dtype)) continue;
      values_.push_back(call.inputs()[i].read_all());
      inputs_.push_back({problem.op->input_name(i), values_.back()});
    }
  }

  const TensorDesc& desc_;
  std::vector<double> actual_, expected_;
  AllowedError bound_;
  std::vector<std::vector<double>> values_;
  std::vector<InputValues> inputs_;
};

void name_worst(const WorstElement& worst, OutputFinding& finding) {
  finding.worst_element = worst.index;
  finding.worst_actual = worst.actual;
  finding.worst_expected = worst.expected;
}

// What it looks like, in words and as a picture.
void describe(const DepartedValues& values, const PairStats& stats, OutputFinding& finding) {
  finding.causes = find_causes(values);
  finding.picture = std::make_shared<ErrorPicture>(
      ErrorPicture{stats.histogram, error_map(values.actual, values.expected, values.shape)});
}

void explain(const CallUnderJudgement& call, std::size_t output, const void* storage,
             const HeldOutput& held, OutputFinding& finding) {
  const ValueComparison& found = held.found;
  const bool is_failed = found.judgement.verdict == Verdict::failed;
  name_worst(is_failed ? found.named : held.stray, finding);
  const Departure departure(call, output, storage, held.bound);
  const DepartedValues values = departure.values();
  const std::vector<bool> wrong = wrong_elements(values);
  finding.wrong_elements = std::count(wrong.begin(), wrong.end(), true);
  finding.pattern = failure_pattern(wrong, values.shape, values.inputs);
  describe(values, found.stats, finding);
}

// Numerics of the device under which the output is right, "" if there are none.
std::string device_numerics(const LoadedCall& loaded, const CallUnderJudgement& plain,
                            std::size_t output) {
  const Problem& problem = plain.problem();
  const DeviceType device = loaded.call->outputs[output]->device;
  if (device == DeviceType::cpu) return adds_in_bf16(plain, output) ? "adds in bf16" : "";
  const bool is_half = problem.outputs[output].dtype == DType::fp16;
  if (is_half && device == DeviceType::npu && hold(plain, output, true).fault.empty()) {
    return "saturates at 65504";
  }
  if (!takes_products(problem)) return {};
  for (const OperandWidth width : {OperandWidth::fp16, OperandWidth::tf32, OperandWidth::bf16}) {
    const std::vector<Tensor> narrowed = narrowed_operands(problem, loaded.inputs, width);
    if (hold(CallUnderJudgement(loaded.call->problem, narrowed, loaded.outputs), output, false)
            .fault.empty()) {
      return std::string(name(width));
    }
  }
  return {};
}

OutputFinding judge_output_of(const LoadedCall& loaded, const CallUnderJudgement& call,
                              std::size_t output, const JudgeRules& rules) {
  const Problem& problem = call.problem();
  const void* storage = loaded.outputs[output].data();
  OutputFinding finding;
  finding.path = loaded.call->outputs[output]->path;
  finding.op = problem.op->name;
  finding.elements = problem.outputs[output].elements();
  const HeldOutput held = hold(call, output, false);
  finding.formula = held.found.formula;
  finding.min_tolerance = held.found.stats.tolerance_of_all();
  finding.allowed = held.bound.allowed;
  finding.allowed_share = held.bound.share;
  if (!held.fault.empty() && rules.allows_device_numerics) {
    finding.numerics = device_numerics(loaded, call, output);
  }
  if (held.fault.empty()) {
    finding.reason = rounding_bias(problem, call.inputs(), output, storage);
    finding.is_leaning = !finding.reason.empty();
    finding.wrong_elements = finding.is_leaning ? finding.elements : 0;
    if (finding.is_leaning) {
      const Departure departure(call, output, storage, held.bound);
      describe(departure.values(), held.found.stats, finding);
    }
  } else if (finding.numerics.empty()) {
    finding.reason = held.fault;
    explain(call, output, storage, held, finding);
  }
  finding.is_wrong = !finding.reason.empty();
  return finding;
}

}  // namespace

std::size_t LoadedCall::bytes(const RecordedCall& call) {
  std::size_t bytes = 0;
  for (const TensorDesc& input : call.problem.inputs) bytes += input.bytes();
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i] != nullptr) bytes += call.problem.outputs[i].bytes();
  }
  return bytes;
}

LoadedCall LoadedCall::load(DumpSource& file, const RecordedCall& call) {
  LoadedCall loaded;
  loaded.call = &call;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    loaded.inputs.push_back(load_recorded(file, *call.inputs[i], call.problem.inputs[i]));
  }
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const TensorDesc& desc = call.problem.outputs[i];
    loaded.outputs.push_back(call.outputs[i] == nullptr
                                 ? Tensor(describe(desc.dtype, {0}))
                                 : load_recorded(file, *call.outputs[i], desc));
  }
  return loaded;
}

std::vector<OutputFinding> judge_call(const LoadedCall& loaded, const JudgeRules& rules) {
  const CallUnderJudgement call(loaded.call->problem, loaded.inputs, loaded.outputs);
  const Problem& problem = call.problem();
  if (problem.op->check_values != nullptr) problem.op->check_values(problem, call.inputs());
  std::vector<OutputFinding> findings;
  for (std::size_t i = 0; i < loaded.outputs.size(); ++i) {
    if (loaded.call->outputs[i] == nullptr) continue;
    findings.push_back(judge_output_of(loaded, call, i, rules));
  }
  return findings;
}

}  // namespace opbench
