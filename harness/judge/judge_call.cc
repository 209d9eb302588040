#include "harness/judge/judge_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/measure/pair_rules.h"
#include "compare/standard/standards.h"
#include "harness/judge/failure_pattern.h"
#include "harness/judge/narrow_operands.h"
#include "harness/judge/recorded_values.h"
#include "harness/judge/rounding_bias.h"
#include "harness/run/inputs_there.h"
#include "harness/run/judge_node.h"
#include "ops/intermediates.h"
#include "tensor/precision.h"

namespace opbench {
namespace {

/// A call as the graph of one node, whose tensors are its inputs, then its outputs.
class JudgedCall {
 public:
  JudgedCall(const LoadedCall& loaded, std::span<const Tensor> inputs)
      : loaded_(loaded), kernel_(*kernels_of(problem().op->name).front()) {
    for (const Tensor& input : inputs) storage_.push_back(input.data());
    for (const Tensor& output : loaded.outputs) storage_.push_back(output.data());
    node_.problem = problem();
    for (std::size_t i = 0; i < inputs.size(); ++i) node_.inputs.push_back(i);
    for (std::size_t i = 0; i < loaded.outputs.size(); ++i)
      node_.outputs.push_back(inputs.size() + i);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      readers_.emplace_back(problem().inputs[i], storage_[i]);
    }
  }

  const Problem& problem() const { return loaded_.call->problem; }
  std::span<const InputReader> inputs() const { return readers_; }
  const void* output(std::size_t i) const { return storage_[node_.outputs[i]]; }

  ValueComparison judge(std::size_t output, bool saturates) const {
    const TensorStorage storage = storage_of();
    return judge_output({node_, kernel_, storage, saturates}, output);
  }

  WorstElement worst_unexplained(std::size_t output, double scale) const {
    const TensorStorage storage = storage_of();
    return opbench::worst_unexplained({node_, kernel_, storage, false}, output, scale);
  }

  double terms_scale(std::size_t output) const {
    const TensorStorage storage = storage_of();
    return scale_of_condition({node_, kernel_, storage, false}, output);
  }

 private:
  TensorStorage storage_of() const {
    return [this](std::size_t tensor) { return storage_[tensor]; };
  }

  const LoadedCall& loaded_;
  const Kernel& kernel_;  // of which only its tolerance counts: that of the dtype
  Node node_;
  std::vector<void*> storage_;
  std::vector<InputReader> readers_;
};

std::vector<double> values_of(const TensorDesc& desc, const void* storage) {
  return InputReader(desc, storage).read_all();
}

// What right kernels leave, in logical order.
std::vector<double> expected_values(const JudgedCall& call, std::size_t output) {
  const Problem& problem = call.problem();
  const TensorDesc& desc = problem.outputs[output];
  const ElementRange all{0, desc.elements()};
  if (problem.op->exact_reference != nullptr) {
    Tensor golden(describe(desc.dtype, desc.shape));
    problem.op->exact_reference(call.inputs(), problem.attrs)(output, all, golden.data());
    return values_of(golden.desc, golden.data());
  }
  std::vector<double> expected(static_cast<std::size_t>(all.count));
  problem.op->reference(call.inputs(), problem.attrs)(output, all, expected);
  return expected;
}

/// What an element may be off by, and by which share of what is expected besides.
struct ElementBound {
  double allowed = 0, share = 0;
};

/// An output and what is expected of it, with the inputs that may tell which elements are wrong.
class Departure {
 public:
  // An element is wrong by itself if it has other bits, of what is exact, else beyond what the
  // tensor was held to.
  Departure(const JudgedCall& call, std::size_t output, const void* storage,
            const ElementBound& bound)
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
  void read_inputs(const JudgedCall& call) {
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
  ElementBound bound_;
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

// What elements are beyond that fail the standard.
ElementBound bound_of(const JudgedCall& call, std::size_t output, const PairStats& stats) {
  const DType dtype = call.problem().outputs[output].dtype;
  if (call.problem().op->accuracy != AccuracyClass::rounded || !is_floating(dtype)) return {};
  const Tolerance tolerance = mixed_tolerance(dtype);
  const bool is_by_limit = stats.inside_share() >= tolerance.inside_share &&
                           stats.nonfinite_mismatches() == 0 && stats.beyond_limit > 0;
  if (is_by_limit) {
    return {limit_at(at_scale(tolerance, stats.scale, dtype), stats.worst_beyond.expected), 0};
  }
  return {tolerance.atol * stats.scale, tolerance.rtol};
}

/// An output held to the reference.
struct HeldOutput {
  ValueComparison found;
  std::string fault = {};  ///< empty: a right kernel may have left it
  WorstElement stray = {};
  ElementBound bound = {};
};

// The tolerance follows the scale of the whole tensor: rows and channels that are far smaller may
// be anything. Each sum is off by no more than a share of what its own terms come to.
std::string beyond_terms(const JudgedCall& call, std::size_t output, double most,
                         HeldOutput& held) {
  const Problem& problem = call.problem();
  const TensorDesc& desc = problem.outputs[output];
  if (problem.op->mixing != Mixing::sums) return {};
  const std::vector<double> actual = values_of(desc, call.output(output));
  const std::vector<double> expected = expected_values(call, output);
  std::vector<double> terms(expected.size());
  intermediates_of(*problem.op, call.inputs(), problem.attrs)
      .rounding(output, {0, desc.elements()}, terms);
  double beyond = 1;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double error = std::fabs(actual[i] - expected[i]);
    const double allowed = std::max(most * terms[i], smallest_unit(desc.dtype));
    // What leaves the dtype is judged as such.
    const bool is_in_range = std::fabs(expected[i]) <= largest_finite(desc.dtype);
    if (!is_in_range || !std::isfinite(error) || error <= beyond * allowed) continue;
    beyond = error / allowed;
    held.stray = {static_cast<std::int64_t>(i), actual[i], expected[i], error};
    held.bound = {allowed, 0};
  }
  if (beyond == 1) return {};
  return fmt::format(
      "an element that no terms explain at {}: {}, expected {}, where {:.3g} may be "
      "off",
      index_text(desc.shape, held.stray.index), value_text(held.stray.actual),
      value_text(held.stray.expected), held.bound.allowed);
}

// The standard lets some elements of a hundred be off by as much as the tensor's scale: a kernel
// that leaves out its last elements would pass. Here none may be off by more than the tolerance, or
// several times the tolerance where many terms are added up.
std::string stray_element(const JudgedCall& call, std::size_t output, HeldOutput& held) {
  const PairStats& stats = held.found.stats;
  constexpr double kTimesOfSums = 4;
  const Problem& problem = call.problem();
  const TensorDesc& desc = problem.outputs[output];
  if (problem.op->accuracy != AccuracyClass::rounded || !is_floating(desc.dtype)) return {};
  const double times = problem.op->mixes_elements() ? kTimesOfSums : 1;
  const double most = times * mixed_tolerance(desc.dtype).rtol;
  if (stats.worst_abs.index < 0) return {};
  if (std::string fault = beyond_terms(call, output, most, held); !fault.empty()) return fault;
  if (stats.min_tolerance <= most) return {};
  double scale = stats.scale;
  if (problem.op->mixes_elements()) scale = std::max(scale, call.terms_scale(output));
  const auto allowed_at = [&](const WorstElement& element) {
    return std::max(most * (scale + std::abs(element.expected)), smallest_unit(desc.dtype));
  };
  if (stats.worst_abs.error <= allowed_at(stats.worst_abs)) return {};
  const WorstElement worst = call.worst_unexplained(output, stats.scale);
  const double allowed = allowed_at(worst);
  if (worst.index < 0 || worst.error <= allowed) return {};
  held.stray = worst;
  held.bound = {std::max(most * scale, smallest_unit(desc.dtype)), most};
  return fmt::format("a stray element at {}: {}, expected {}, where {:.3g} may be off",
                     index_text(desc.shape, worst.index), value_text(worst.actual),
                     value_text(worst.expected), allowed);
}

HeldOutput hold(const JudgedCall& call, std::size_t output, bool saturates) {
  HeldOutput held{call.judge(output, saturates)};
  held.bound = bound_of(call, output, held.found.stats);
  held.fault = held.found.judgement.verdict == Verdict::failed ? held.found.judgement.reason
                                                               : stray_element(call, output, held);
  return held;
}

void explain(const JudgedCall& call, std::size_t output, const void* storage,
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
std::string device_numerics(const LoadedCall& loaded, const JudgedCall& plain, std::size_t output) {
  const Problem& problem = plain.problem();
  const DeviceType device = loaded.call->outputs[output]->device;
  if (device == DeviceType::cpu) return {};
  const bool is_half = problem.outputs[output].dtype == DType::fp16;
  if (is_half && device == DeviceType::npu && hold(plain, output, true).fault.empty()) {
    return "saturates at 65504";
  }
  if (!takes_products(problem)) return {};
  for (const OperandWidth width : {OperandWidth::fp16, OperandWidth::tf32, OperandWidth::bf16}) {
    const std::vector<Tensor> narrowed = narrowed_operands(problem, loaded.inputs, width);
    if (hold(JudgedCall(loaded, narrowed), output, false).fault.empty()) {
      return std::string(name(width));
    }
  }
  return {};
}

OutputFinding judge_output_of(const LoadedCall& loaded, const JudgedCall& call, std::size_t output,
                              const JudgeRules& rules) {
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
  const JudgedCall call(loaded, loaded.inputs);
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
