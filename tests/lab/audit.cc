#include "tests/lab/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/plan/reference_kernel.h"
#include "harness/run/example_case.h"
#include "judge/compare_values.h"
#include "judge/judge_output.h"
#include "judge/standards.h"
#include "tensor/error.h"
#include "tests/lab/attainable.h"
#include "tests/lab/audit_cases.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

/// Judges results of a problem on given inputs.
class Judge {
 public:
  Judge(const Kernel& kernel, const Problem& problem, const InputElements& inputs)
      : kernel_(kernel),
        problem_(problem),
        golden_(run_kernel_on(reference_kernel(), problem, inputs, {})) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs_.emplace_back(problem.inputs[i], 0, 0, 0).write(inputs[i]);
    }
    for (const TensorDesc& output : problem.outputs) outputs_.emplace_back(output, 0, 0, 0);
  }

  /// Returns why the standard fails the results; empty if it passes them.
  std::string failure(std::string_view standard, const std::vector<Elements>& results) const {
    // An output may be judged by another one, such as the shares of experts by their indices.
    for (std::size_t i = 0; i < results.size(); ++i) outputs_[i].write(results[i]);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Judgement found =
          standard == "run" ? judge_run(i) : judge_dump(standard, i, results[i]);
      if (found.verdict == Verdict::failed) return found.reason;
    }
    return {};
  }

 private:
  Judgement judge_run(std::size_t output) const {
    CallToJudge call = call_of(problem_, kernel_, false);
    for (const PlacedTensor& input : inputs_) call.inputs.push_back(input.data());
    for (const PlacedTensor& made : outputs_) call.outputs.push_back(made.data());
    const Judgement found = judge_output(call, output).judgement;
    const bool is_limit =
        found.verdict == Verdict::failed && !reason_of_limit(call, output).empty();
    return is_limit ? Judgement{} : found;
  }

  Judgement judge_dump(std::string_view standard, std::size_t output,
                       const Elements& result) const {
    const TensorDesc& desc = problem_.outputs[output];
    const Standard held_to = standard_for(builtin_standards(), parse_standard(standard),
                                          problem_.op->ir_name, desc.dtype);
    return compare_values(result.data(), desc.dtype, golden_[output].data(), desc.dtype,
                          desc.elements(), held_to, desc.shape)
        .judgement;
  }

  const Kernel& kernel_;
  const Problem& problem_;
  std::vector<Elements> golden_;
  std::vector<PlacedTensor> inputs_, outputs_;
};

// Returns the device's first variant that supports an example, else another variant.
const Kernel* kernel_to_break(const Op& op) {
  const Kernel* chosen = nullptr;
  for (const Kernel* kernel : kernels_of(op.name)) {
    if (!example_case(*kernel)) continue;
    const bool is_better = chosen == nullptr ||
                           (chosen->provider != Provider::npu && kernel->provider == Provider::npu);
    if (is_better) chosen = kernel;
  }
  return chosen;
}

// Compares by value: NaN equals NaN.
bool is_changed(const HonestRun& run, const std::vector<Elements>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] == run.results()[i]) continue;
    const TensorDesc& desc = run.problem().outputs[i];
    const std::vector<double> a = run.values(desc, results[i]);
    const std::vector<double> b = run.values(desc, run.results()[i]);
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k] != b[k] && !(std::isnan(a[k]) && std::isnan(b[k]))) return true;
    }
  }
  return false;
}

/// One mutation in one dtype.
struct Tries {
  int effective = 0, killed = 0, attainable = 0;
};

class Audit {
 public:
  Audit(const Op& op, const AuditOptions& options,
        const std::function<void(const std::string&)>& progress)
      : op_(op), options_(options), progress_(progress) {
    result_.op = op.name;
  }

  OperatorAudit run() {
    const Kernel* kernel = kernel_to_break(op_);
    if (kernel == nullptr) throw Error(fmt::format("no variant of {} takes an example", op_.name));
    result_.variant = kernel->name;
    for (const Mutation* mutation : all_mutations()) {
      if (!mutation->is_of(op_.name)) continue;
      result_.rows.emplace_back().mutation = mutation;
    }
    for (const DTypeCases& cases : audit_cases(*kernel)) break_all(*kernel, cases);
    for (const Kernel* honest : kernels_of(op_.name)) {
      if (!is_defective(*honest)) judge_honest(*honest);
    }
    return std::move(result_);
  }

 private:
  void tell(const std::string& what) const {
    if (progress_) progress_(what);
  }

  // Tries all mutations with all seeds.
  void break_all(const Kernel& kernel, const DTypeCases& cases) {
    std::vector<Tries> tries(result_.rows.size());
    for (const Case& c : cases) {
      result_.cases.push_back(case_id(c));
      for (int seed = 1; seed <= options_.seeds && !interrupted(); ++seed) {
        tell(fmt::format("{} broken, seed {}", case_id(c), seed));
        const HonestRun run(kernel, c, static_cast<std::uint64_t>(seed));
        const Judge judge(kernel, run.problem(), run.inputs());
        for (std::size_t i = 0; i < tries.size(); ++i)
          break_once(run, judge, result_.rows[i], tries[i]);
      }
    }
    for (std::size_t i = 0; i < tries.size(); ++i) {
      MutationRow& row = result_.rows[i];
      if (tries[i].effective == 0) continue;
      ++row.defects;
      if (tries[i].killed > 0) {
        ++row.seen;
      } else if (tries[i].attainable == tries[i].effective) {
        ++row.equivalent;
      } else {
        row.survivor = case_id(cases.front());
      }
    }
  }

  void break_once(const HonestRun& run, const Judge& judge, MutationRow& row, Tries& tries) const {
    const auto results = row.mutation->break_it(run);
    if (!results || !is_changed(run, *results)) return;
    ++row.effective;
    ++tries.effective;
    for (std::size_t k = 0; k < kAuditStandards.size(); ++k) {
      const bool is_killed = !judge.failure(kAuditStandards[k], *results).empty();
      row.killed[k] += is_killed ? 1 : 0;
      if (k == 0) tries.killed += is_killed ? 1 : 0;
    }
    if (tries.killed == 0 && is_attainable(run, *results)) ++tries.attainable;
  }

  void judge_honest(const Kernel& kernel) {
    for (const DTypeCases& cases : audit_cases(kernel)) {
      for (const Case& c : cases) judge_honest(kernel, c);
    }
  }

  void judge_honest(const Kernel& kernel, const Case& c) {
    constexpr std::size_t kShown = 10;
    tell(fmt::format("{} of {}, {} seeds", kernel.name, case_id(c), options_.honest_seeds));
    const Problem problem = problem_of(c);
    for (int seed = 1; seed <= options_.honest_seeds && !interrupted(); ++seed) {
      const InputElements inputs =
          elements_of(c, problem, static_cast<std::uint64_t>(seed) << 20, kernel.takes);
      const Judge judge(kernel, problem, inputs);
      ++result_.honest_runs;
      const std::string reason = judge.failure("run", run_kernel_on(kernel, problem, inputs, {}));
      if (reason.empty()) continue;
      ++result_.false_failure_count;
      if (result_.false_failures.size() >= kShown) continue;
      result_.false_failures.push_back(
          {fmt::format("{}, seed {}", case_id(c), seed), std::string(kernel.name), "run", reason});
    }
  }

  const Op& op_;
  const AuditOptions& options_;
  const std::function<void(const std::string&)>& progress_;
  OperatorAudit result_;
};

}  // namespace

int OperatorAudit::effective() const {
  int sum = 0;
  for (const MutationRow& row : rows) sum += row.effective;
  return sum;
}

int OperatorAudit::killed(std::size_t standard) const {
  int sum = 0;
  for (const MutationRow& row : rows) sum += row.killed[standard];
  return sum;
}

int OperatorAudit::defects() const {
  int sum = 0;
  for (const MutationRow& row : rows) sum += row.defects - row.equivalent;
  return sum;
}

int OperatorAudit::equivalent() const {
  int sum = 0;
  for (const MutationRow& row : rows) sum += row.equivalent;
  return sum;
}

int OperatorAudit::seen() const {
  int sum = 0;
  for (const MutationRow& row : rows) sum += row.seen;
  return sum;
}

std::vector<const Op*> arithmetic_operators() {
  std::vector<const Op*> ops;
  for (const Op* op : RegisteredOp::all()) {
    if (op->accuracy == AccuracyClass::rounded && op->reference != nullptr) ops.push_back(op);
  }
  return ops;
}

OperatorAudit audit(const Op& op, const AuditOptions& options,
                    const std::function<void(const std::string& what)>& progress) {
  return Audit(op, options, progress).run();
}

}  // namespace opbench
