#include "compare/judge_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "judge/bound.h"
#include "judge/failure_pattern.h"
#include "judge/hidden_faults.h"
#include "judge/judge_output.h"
#include "judge/stored_values.h"
#include "ops/positional_call.h"

namespace opbench {
namespace {

// The call in the judge's form. Outputs that are not recorded are null.
CallToJudge call_of(const LoadedCall& loaded) {
  CallToJudge call{.problem = loaded.call->problem};
  for (const Tensor& input : loaded.inputs) call.inputs.push_back(input.data());
  for (std::size_t i = 0; i < loaded.outputs.size(); ++i) {
    const bool is_recorded = loaded.call->outputs[i] != nullptr;
    call.outputs.push_back(is_recorded ? loaded.outputs[i].data() : nullptr);
  }
  return call;
}

std::vector<double> values_of(const TensorDesc& desc, const void* storage) {
  return InputReader(desc, storage).read_all();
}

// The reference, in logical order.
std::vector<double> expected_values(const CallToJudge& call, std::size_t output) {
  const Problem& problem = call.problem;
  const TensorDesc& desc = problem.outputs[output];
  const ElementRange all{0, desc.elements()};
  const std::vector<InputReader> inputs = readers_of(call);
  if (is_exact(problem)) {
    Tensor golden(describe(desc.dtype, desc.shape));
    problem.op->exact_reference(inputs, problem.attrs)(output, all, golden.data());
    return values_of(golden.desc, golden.data());
  }
  std::vector<double> expected(static_cast<std::size_t>(all.count));
  problem.op->reference(inputs, problem.attrs)(output, all, expected);
  return expected;
}

/// An output and its expected values, with inputs that may show which elements are wrong.
class DepartedOutput {
 public:
  DepartedOutput(const CallToJudge& call, std::size_t output, const JudgedOutput& judged)
      : call_(call),
        desc_(call.problem.outputs[output]),
        judged_(judged),
        actual_(values_of(desc_, call.outputs[output])),
        expected_(expected_values(call, output)) {
    if (!call.problem.op->mixes_elements()) read_inputs();
    find_wrong(output);
  }

  DepartedValues values() const {
    return {actual_,
            expected_,
            desc_.shape,
            judged_.allowed,
            judged_.allowed_share,
            inputs_,
            wrong_.empty() ? nullptr : &wrong_};
  }

 private:
  void read_inputs() {
    const Problem& problem = call_.problem;
    values_.reserve(problem.inputs.size());
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
      const TensorDesc& desc = problem.inputs[i];
      if (desc.shape != desc_.shape || !is_floating(desc.dtype)) continue;
      values_.push_back(values_of(desc, call_.inputs[i]));
      inputs_.push_back({problem.op->input_name(i), values_.back()});
    }
  }

  // Each element of a rounded output has its own bound.
  void find_wrong(std::size_t output) {
    if (judged_.allowed == 0 && judged_.allowed_share == 0) return;
    const std::vector<InputReader> readers = readers_of(call_);
    const ErrorBound bound(call_.problem, readers, output);
    wrong_ = bound.wrong(judged_.claim, {0, desc_.elements()}, actual_, expected_);
  }

  const CallToJudge& call_;
  const TensorDesc& desc_;
  const JudgedOutput& judged_;
  std::vector<double> actual_, expected_;
  std::vector<std::vector<double>> values_;
  std::vector<InputValues> inputs_;
  std::vector<bool> wrong_;
};

// Adds the causes of wrong elements and a picture of the errors.
void describe_departure(const DepartedValues& values, const PairStats& stats,
                        OutputFinding& finding) {
  finding.causes = find_causes(values);
  finding.picture = std::make_shared<ErrorPicture>(
      ErrorPicture{stats.histogram, error_map(values.actual, values.expected, values.shape)});
}

void explain(const DepartedOutput& departure, const JudgedOutput& judged, OutputFinding& finding) {
  finding.worst_element = judged.named.index;
  finding.worst_actual = judged.named.actual;
  finding.worst_expected = judged.named.expected;
  const DepartedValues values = departure.values();
  const std::vector<bool> wrong = wrong_elements(values);
  finding.wrong_elements = std::count(wrong.begin(), wrong.end(), true);
  finding.pattern = failure_pattern(wrong, values.shape, values.inputs);
  describe_departure(values, judged.stats, finding);
}

// False for msprobe, which writes tensors of any device from the memory of the host:
// "/Functional.linear.0.forward/7/output/0".
bool states_device(const DumpEntry& output) {
  const std::string_view path = output.path;
  const std::string_view call = path.substr(0, path.rfind("/output/"));
  return find_positional_call(call.substr(0, call.rfind('/'))) == nullptr;
}

// The device that made an output; empty if the rules do not allow a device's own arithmetic. A
// device that is not known may be an NPU.
Maker maker_of(const LoadedCall& loaded, std::size_t output, const JudgeRules& rules) {
  if (!rules.allows_device_numerics) return {};
  const DumpEntry& entry = *loaded.call->outputs[output];
  return {.device = states_device(entry) ? entry.device : DeviceType::npu};
}

OutputFinding judge_output_of(const LoadedCall& loaded, CallToJudge& call, std::size_t output,
                              const JudgeRules& rules) {
  const Problem& problem = call.problem;
  call.maker = maker_of(loaded, output, rules);
  call.rule = rules.outputs;
  const JudgedOutput judged = judge_output(call, output);
  OutputFinding finding;
  finding.path = loaded.call->outputs[output]->path;
  finding.op = problem.op->name;
  finding.elements = problem.outputs[output].elements();
  finding.formula = judged.formula;
  finding.min_tolerance = judged.stats.tolerance_of_all();
  finding.allowed = judged.allowed;
  finding.allowed_share = judged.allowed_share;
  finding.is_wrong = judged.judgement.verdict == Verdict::failed;
  if (finding.is_wrong) {
    finding.reason = judged.judgement.reason;
    explain(DepartedOutput(call, output, judged), judged, finding);
    return finding;
  }
  if (judged.is_inconclusive) {
    finding.is_inconclusive = true;
    finding.reason = judged.judgement.reason;
    return finding;
  }
  finding.numerics = judged.claim.name;
  finding.reason = rounding_bias(problem, readers_of(call), output, call.outputs[output]);
  finding.is_leaning = finding.is_wrong = !finding.reason.empty();
  if (finding.is_leaning) {
    finding.wrong_elements = finding.elements;
    describe_departure(DepartedOutput(call, output, judged).values(), judged.stats, finding);
  }
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

LoadedCall LoadedCall::load(const RecordFiles& files, const RecordedCall& call) {
  LoadedCall loaded;
  loaded.call = &call;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    // An "output mask" is a recorded result that the operator of opbench takes as an input.
    DumpSource& file = call.inputs[i]->side == Side::input ? files.inputs : files.outputs;
    loaded.inputs.push_back(load_recorded(file, *call.inputs[i], call.problem.inputs[i]));
  }
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const TensorDesc& desc = call.problem.outputs[i];
    loaded.outputs.push_back(call.outputs[i] == nullptr
                                 ? Tensor(describe(desc.dtype, {0}))
                                 : load_recorded(files.outputs, *call.outputs[i], desc));
  }
  return loaded;
}

std::vector<OutputFinding> judge_call(const LoadedCall& loaded, const JudgeRules& rules) {
  CallToJudge call = call_of(loaded);
  const Problem& problem = call.problem;
  if (problem.op->check_values != nullptr) problem.op->check_values(problem, readers_of(call));
  std::vector<OutputFinding> findings;
  for (std::size_t i = 0; i < loaded.outputs.size(); ++i) {
    if (loaded.call->outputs[i] == nullptr) continue;
    findings.push_back(judge_output_of(loaded, call, i, rules));
  }
  return findings;
}

}  // namespace opbench
