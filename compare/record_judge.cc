#include "compare/record_judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/judge_call.h"
#include "compare/judge_draws.h"
#include "harness/plan/call_plan.h"
#include "harness/run/open_unit.h"
#include "judge/stored_values.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "text/fitted.h"

namespace opbench {
namespace {

/// The number of elements of all recorded outputs that a variant reproduces exactly.
struct VariantLikeness {
  std::string kernel;
  std::int64_t equal = 0, elements = 0;

  bool is_complete() const { return equal == elements; }
  double share() const { return static_cast<double>(equal) / static_cast<double>(elements); }
};

void copy_elements(const TensorDesc& from, const void* source, const TensorDesc& to, void* target) {
  std::vector<std::byte> bits;
  for (std::int64_t i = 0; i < block_count(to); ++i) {
    const ElementRange range = block(to, i);
    bits.resize(static_cast<std::size_t>(range.count) * size_of(to.dtype));
    read_elements(from, source, range, bits.data());
    write_elements(to, target, range, bits.data());
  }
}

void count_equal(const TensorDesc& recorded, const void* values, const TensorDesc& desc,
                 const void* computed, VariantLikeness& likeness) {
  std::vector<double> a, b;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    a.resize(static_cast<std::size_t>(range.count));
    b.resize(a.size());
    read_doubles(recorded, values, range, a);
    read_doubles(desc, computed, range, b);
    for (std::size_t k = 0; k < a.size(); ++k) {
      likeness.equal += a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]));
    }
    likeness.elements += range.count;
  }
}

/// The inputs of a call that is in memory.
class LoadedInputs : public InputSource {
 public:
  explicit LoadedInputs(const std::vector<Tensor>& inputs) : inputs_(inputs) {}
  void fill(std::size_t input, const TensorDesc& desc, void* to) const override {
    if (desc.format != desc.origin) std::memset(to, 0, desc.bytes());
    copy_elements(inputs_[input].desc, inputs_[input].data(), desc, to);
  }

 private:
  const std::vector<Tensor>& inputs_;
};

VariantLikeness run_variant(const LoadedCall& loaded, PlannedCase plan, int threads) {
  VariantLikeness likeness;
  likeness.kernel = plan.variants[0].variant;
  PhaseTimes times;
  OpenUnit open(WorkUnit(std::move(plan), std::make_shared<LoadedInputs>(loaded.inputs)), threads,
                times);
  const std::size_t chosen[] = {0};
  open.require_memory(chosen, false);
  open.allocate(chosen);
  open.prepare(0);
  open.load(0, {open.unit().seed});
  const UnitVariant& variant = open.variant(0);
  const Node& node = variant.graph->nodes[0];
  with_threads(threads, [&] { open.bound(0).run(); });
  for (std::size_t i = 0; i < loaded.outputs.size(); ++i) {
    if (loaded.call->outputs[i] == nullptr) continue;
    count_equal(loaded.outputs[i].desc, loaded.outputs[i].data(), node.problem.outputs[i],
                open.workspace().at(variant, node.outputs[i]), likeness);
  }
  return likeness;
}

std::vector<VariantLikeness> all_variants(const LoadedCall& loaded, int threads) {
  std::vector<VariantLikeness> all;
  const Problem& problem = loaded.call->problem;
  for (const Kernel* kernel : kernels_of(problem.op->name)) {
    std::optional<PlannedCase> plan = plan_call(problem, *kernel);
    if (!plan) continue;
    try {
      all.push_back(run_variant(loaded, std::move(*plan), threads));
    } catch (const RunError&) {
      // The variant needs too much memory to run here.
    }
  }
  return all;
}

// The variants that reproduce the recorded outputs: "equals softplus_v2 bit for bit", if others do
// not. Otherwise a variant that is much nearer than all others: "nearest to softplus (99.8 % equal;
// native 61.2 %)". Empty if the variants do not differ, or if no variant can run here. Runs all
// variants that support the problem, each in a format that it supports. Memory: the call's tensors
// again, in that format, and the variant's own memory.
std::string implementation_of(const LoadedCall& loaded, int threads) {
  std::vector<VariantLikeness> all = all_variants(loaded, threads);
  std::erase_if(all, [](const VariantLikeness& one) { return one.elements == 0; });
  if (all.empty()) return {};
  std::stable_sort(all.begin(), all.end(), [](const VariantLikeness& a, const VariantLikeness& b) {
    return a.equal > b.equal;
  });
  std::vector<std::string> complete;
  for (const VariantLikeness& one : all) {
    if (one.is_complete()) complete.push_back(one.kernel);
  }
  if (complete.size() == all.size() && all.size() > 1) return {};
  if (!complete.empty()) {
    return fmt::format("equals {} bit for bit", fmt::join(complete, ", "));
  }
  constexpr double kNear = 0.9, kFar = 0.5;  // of those elements in which the others differ
  const VariantLikeness& best = all.front();
  if (all.size() < 2 || best.share() < kNear) return {};
  if (1 - best.share() > kFar * (1 - all[1].share())) return {};
  return fmt::format("nearest to {} ({:.4g} % equal; {} {:.4g} %)", best.kernel, 100 * best.share(),
                     all[1].kernel, 100 * all[1].share());
}

class RecordJudge {
 public:
  RecordJudge(const RecordFiles& files, const OpTable& table, const JudgeOptions& options,
              const NamingRule& naming)
      : files_(files), table_(table), options_(options), naming_(naming) {}

  JudgedRecord judge(const DumpRecord& record) {
    JudgedRecord judged = begin(record);
    std::string unfit;
    try {
      const RecordedCalls calls = calls_of(
          record, table_,
          [&](const DumpEntry& entry) { return recorded_numbers(files_.inputs, entry); },
          Results::recorded, TakenDTypes::of_reference);
      judged.reason = calls.obstacle;
      if (!calls.calls.empty()) unfit = calls.obstacle;
      if (calls.drawn != Drawn::not_at_all) judge_draws_of(record, calls.drawn, judged);
      for (const RecordedCall& call : calls.calls) judge_call_of(call, judged);
    } catch (const Error& error) {
      judged.reason = error.what();
    }
    settle(judged);
    if (judged.reason.empty() && !unfit.empty()) {
      judged.reason =
          fmt::format("a built-in row is used; the row of --map does not fit: {}", unfit);
    }
    return judged;
  }

 private:
  static JudgedRecord begin(const DumpRecord& record) {
    JudgedRecord judged;
    judged.op = record.op;
    judged.seq = record.seq_text;
    if (const std::string* module = record.note("opbench_module")) judged.module = *module;
    if (const std::string* source = record.note("opbench_source")) judged.source = *source;
    for (const DumpEntry& entry : record.entries) {
      if (entry.side != Side::output || entry.kind != EntryKind::tensor) continue;
      if (judged.dtype.empty()) judged.dtype = name(entry.desc.dtype);
      if (judged.device.empty()) judged.device = to_string(entry.device);
      judged.elements += entry.desc.elements();
    }
    return judged;
  }

  void judge_draws_of(const DumpRecord& record, Drawn drawn, JudgedRecord& judged) {
    judged.ruling = Ruling::random;
    if (!options_.judges_draws) return;
    std::optional<OutputFinding> wrong = judge_draws(files_, record, drawn);
    if (!wrong) return;
    judged.ruling = Ruling::guilty;
    judged.judged += wrong->elements;
    judged.findings.push_back(std::move(*wrong));
  }

  void judge_call_of(const RecordedCall& call, JudgedRecord& judged) {
    const std::size_t bytes = LoadedCall::bytes(call);
    if (bytes > options_.memory) {
      judged.reason =
          fmt::format("its tensors take {}, and --memory allows {}", byte_size_text(double(bytes)),
                      byte_size_text(double(options_.memory)));
      return;
    }
    const LoadedCall loaded = LoadedCall::load(files_, call);
    bool is_wrong = false;
    for (OutputFinding& finding : opbench::judge_call(loaded, options_.rules)) {
      judged.judged += finding.elements;
      is_wrong |= finding.is_wrong;
      judged.findings.push_back(std::move(finding));
    }
    // Called for every call, whatever the results before.
    const Problem& problem = call.problem;
    const bool is_named =
        naming_({std::string(problem.op->name), problem.outputs[0].dtype, is_wrong});
    if (is_named && judged.implementation.empty()) {
      judged.implementation = implementation_of(loaded, options_.threads);
    }
  }

  static void settle(JudgedRecord& judged) {
    if (judged.ruling == Ruling::random || judged.findings.empty()) return;
    judged.reason.clear();
    if (judged.worst() != nullptr) {
      judged.ruling = Ruling::guilty;
      return;
    }
    judged.ruling = Ruling::ok;
    for (const OutputFinding& finding : judged.findings) {
      if (!finding.is_inconclusive) continue;
      judged.ruling = Ruling::unknown;
      judged.reason = finding.reason;
    }
  }

  const RecordFiles& files_;
  const OpTable& table_;
  const JudgeOptions& options_;
  const NamingRule& naming_;
};

}  // namespace

bool UsualNaming::operator()(const JudgedCall& call) {
  if (which_ != NameImplementations::some || call.is_wrong) {
    return which_ != NameImplementations::none;
  }
  return named_.emplace(call.op, call.dtype).second;
}

JudgedRecord judge_record(const RecordFiles& files, const DumpRecord& record, const OpTable& table,
                          const JudgeOptions& options, const NamingRule& naming) {
  return RecordJudge(files, table, options, naming).judge(record);
}

}  // namespace opbench
