#include "compare/witness.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "compare/witness_elements.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

std::vector<InputReader> readers_of(const Problem& problem, const std::vector<Tensor>& inputs) {
  std::vector<InputReader> readers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    readers.emplace_back(problem.inputs[i], inputs[i].data());
  }
  return readers;
}

// The operator's reference result, dense.
Tensor expected_of(const Problem& problem, const std::vector<Tensor>& inputs, std::size_t output) {
  const std::vector<InputReader> readers = readers_of(problem, inputs);
  const TensorDesc& desc = problem.outputs[output];
  const bool has_exact = is_exact(problem);
  Tensor expected(describe(has_exact ? desc.dtype : DType::fp64, desc.shape));
  const auto blocks = block_count(expected.desc);
  if (has_exact) {
    const ExactReference reference = problem.op->exact_reference(readers, problem.attrs);
    parallel_blocks(blocks, [&](std::int64_t i) {
      const ElementRange range = block(expected.desc, i);
      reference(output, range, at(expected.data(), desc.dtype, range.first));
    });
    return expected;
  }
  const Reference reference = problem.op->reference(readers, problem.attrs);
  parallel_blocks(blocks, [&](std::int64_t i) {
    const ElementRange range = block(expected.desc, i);
    reference(output, range,
              {expected.as<double>() + range.first, static_cast<std::size_t>(range.count)});
  });
  return expected;
}

// Compares bits; all NaNs are equal.
bool has_same_bits(const Tensor& a, const Tensor& b) {
  if (a.desc.dtype != b.desc.dtype || a.desc.shape != b.desc.shape) return false;
  if (std::memcmp(a.data(), b.data(), a.desc.bytes()) == 0) return true;
  if (a.desc.dtype != DType::fp64) return false;
  const std::int64_t count = a.desc.elements();
  return std::equal(a.as<double>(), a.as<double>() + count, b.as<double>(), [](double x, double y) {
    return std::memcmp(&x, &y, sizeof x) == 0 || (std::isnan(x) && std::isnan(y));
  });
}

TensorDesc with_shape(TensorDesc desc, const Dims& shape, bool is_plain) {
  if (is_plain) return describe(desc.dtype, shape);
  desc.shape = shape;
  return desc;
}

std::unique_ptr<RecordedCall> cut_call(const Witness& witness, const Proposal& proposal,
                                       bool is_plain) {
  const Problem& before = witness.problem();
  auto call = std::make_unique<RecordedCall>();
  std::vector<TensorDesc> inputs;
  for (std::size_t i = 0; i < proposal.sources.size(); ++i) {
    const std::size_t source = proposal.sources[i];
    inputs.push_back(with_shape(before.inputs[source], proposal.inputs[i].shape, is_plain));
    call->inputs.push_back(witness.call->inputs[source]);
  }
  call->problem = make_problem(*before.op, std::move(inputs), proposal.attrs);
  call->outputs.assign(call->problem.outputs.size(), nullptr);
  if (witness.output >= call->outputs.size()) throw Error("the output is gone");
  TensorDesc& output = call->problem.outputs[witness.output];
  if (output.shape != proposal.output.shape) throw Error("the output is of another shape");
  output.dtype = before.outputs[witness.output].dtype;
  call->outputs[witness.output] = witness.call->outputs[witness.output];
  return call;
}

}  // namespace

std::int64_t Witness::elements() const {
  std::int64_t sum = recorded().desc.elements();
  for (const Tensor& input : loaded.inputs) sum += input.desc.elements();
  return sum;
}

Witness make_witness(LoadedCall loaded, std::size_t output, const OutputFinding& finding) {
  auto call = std::make_unique<RecordedCall>(*loaded.call);
  for (std::size_t i = 0; i < call->outputs.size(); ++i) {
    if (i == output) continue;
    call->outputs[i] = nullptr;
    loaded.outputs[i] = Tensor(describe(call->problem.outputs[i].dtype, {0}));
  }
  loaded.call = call.get();
  Tensor expected = expected_of(call->problem, loaded.inputs, output);
  return {std::move(call), std::move(loaded), output, std::move(expected), finding};
}

Proposal Proposal::all_of(const Witness& witness) {
  Proposal proposal;
  for (std::size_t i = 0; i < witness.loaded.inputs.size(); ++i) {
    proposal.sources.push_back(i);
    proposal.inputs.push_back(TensorCut::all_of(witness.problem().inputs[i].shape));
  }
  proposal.output = TensorCut::all_of(witness.recorded().desc.shape);
  proposal.attrs = witness.problem().attrs;
  return proposal;
}

Cutting::Cutting(Witness& witness, const JudgeRules& rules, std::function<bool()> stop)
    : witness_(witness), rules_(rules), stop_(std::move(stop)) {}

bool Cutting::has_wrong_element(const Tensor& expected, const Tensor& recorded) const {
  if (witness_.finding.is_leaning) return true;
  const ElementBound bound = bound_of(witness_.problem(), witness_.finding, witness_.output);
  return !elements_beyond(bound, expected, recorded).empty();
}

std::optional<Cutting::Candidate> Cutting::candidate(const Proposal& proposal, bool is_plain) {
  ++trials_;
  try {
    Candidate made{cut_call(witness_, proposal, is_plain), {}, Tensor(describe(DType::fp64, {0}))};
    const Problem& problem = made.call->problem;
    made.loaded.call = made.call.get();
    for (std::size_t i = 0; i < proposal.sources.size(); ++i) {
      std::optional<Tensor> input = cut_tensor(witness_.loaded.inputs[proposal.sources[i]],
                                               proposal.inputs[i], problem.inputs[i]);
      if (!input) return std::nullopt;
      made.loaded.inputs.push_back(std::move(*input));
    }
    if (problem.op->check_values != nullptr) {
      problem.op->check_values(problem, readers_of(problem, made.loaded.inputs));
    }
    const Tensor cut = *cut_tensor(witness_.expected, proposal.output,
                                   describe(witness_.expected.desc.dtype, proposal.output.shape));
    made.expected = expected_of(problem, made.loaded.inputs, witness_.output);
    if (!has_same_bits(made.expected, cut)) return std::nullopt;
    return made;
  } catch (const RunError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;  // the operator does not go with it
  }
}

bool Cutting::is_consistent(const Proposal& proposal) {
  return !is_stopped() && candidate(proposal, false).has_value();
}

// The recorded output is the same for any inputs.
bool Cutting::accept(Candidate candidate, const Tensor& recorded) {
  const Problem& problem = candidate.call->problem;
  for (const TensorDesc& output : problem.outputs) {
    candidate.loaded.outputs.emplace_back(describe(output.dtype, {0}));
  }
  candidate.loaded.outputs[witness_.output] = std::move(*cut_tensor(
      recorded, TensorCut::all_of(recorded.desc.shape), problem.outputs[witness_.output]));
  std::vector<OutputFinding> findings;
  try {
    findings = judge_call(candidate.loaded, rules_);
  } catch (const RunError&) {
    throw;
  } catch (const Error&) {
    return false;
  }
  OutputFinding& found = findings.front();
  if (!found.is_wrong || found.is_leaning != witness_.finding.is_leaning) return false;
  // The bound stays that of the whole tensor.
  found.allowed = witness_.finding.allowed;
  found.allowed_share = witness_.finding.allowed_share;
  witness_.call = std::move(candidate.call);
  witness_.loaded = std::move(candidate.loaded);
  witness_.expected = std::move(candidate.expected);
  witness_.finding = std::move(found);
  return true;
}

bool Cutting::take(const Proposal& proposal) {
  if (is_stopped()) return false;
  std::int64_t elements = element_count(proposal.output.shape);
  for (const TensorCut& input : proposal.inputs) elements += element_count(input.shape);
  if (elements >= witness_.elements()) return false;
  const Dims& shape = proposal.output.shape;
  const Tensor recorded = *cut_tensor(witness_.recorded(), proposal.output,
                                      describe(witness_.recorded().desc.dtype, shape));
  const Tensor expected = *cut_tensor(witness_.expected, proposal.output,
                                      describe(witness_.expected.desc.dtype, shape));
  if (!has_wrong_element(expected, recorded)) return false;
  std::optional<Candidate> made = candidate(proposal, false);
  return made && accept(std::move(*made), recorded);
}

void Cutting::make_plain() {
  const auto is_stored_plainly = [](const Tensor& tensor) {
    return tensor.desc.format == tensor.desc.origin;
  };
  const std::vector<Tensor>& inputs = witness_.loaded.inputs;
  if (is_stopped() || (std::all_of(inputs.begin(), inputs.end(), is_stored_plainly) &&
                       is_stored_plainly(witness_.recorded()))) {
    return;
  }
  const Proposal all = Proposal::all_of(witness_);
  std::optional<Candidate> made = candidate(all, true);
  if (!made) return;
  const Tensor recorded = *cut_tensor(witness_.recorded(), all.output,
                                      describe(witness_.recorded().desc.dtype, all.output.shape));
  accept(std::move(*made), recorded);
}

}  // namespace opbench
