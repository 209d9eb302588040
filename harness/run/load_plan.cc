#include "harness/run/load_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <tuple>

#include "dump/dump_types.h"
#include "harness/plan/call_plan.h"
#include "harness/plan/case_selection.h"
#include "harness/plan/kernel_choice.h"
#include "harness/plan/reference_kernel.h"
#include "harness/plan/selected_kernels.h"
#include "judge/stored_values.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

using Kernels = std::vector<const Kernel*>;

std::vector<const DumpRecord*> records_in_order(DumpSource& file, const LoadSelection& selection) {
  std::vector<const DumpRecord*> records;
  for (const DumpRecord& record : file.records()) {
    const std::string path = fmt::format("{}/{}", record.op, record.seq_text);
    const auto& only = selection.only;
    if (!only || only(record.op) || only(path)) records.push_back(&record);
  }
  std::stable_sort(records.begin(), records.end(), [](const DumpRecord* a, const DumpRecord* b) {
    return std::tuple(!a->seq.has_value(), a->seq.value_or(0)) <
           std::tuple(!b->seq.has_value(), b->seq.value_or(0));
  });
  return records;
}

std::int64_t output_elements(const DumpRecord& record) {
  std::int64_t sum = 0;
  for (const DumpEntry& entry : record.entries) {
    const bool is_result = entry.side == Side::output && entry.kind == EntryKind::tensor;
    if (is_result) sum += entry.desc.elements();
  }
  return sum;
}

std::int64_t recorded_elements(const RecordedCall& call) {
  std::int64_t sum = 0;
  for (const DumpEntry* output : call.outputs) sum += output ? output->desc.elements() : 0;
  return sum;
}

// The named kernels, in that order; else the kernels that a context on the device tries.
Kernels preferred_kernels(const Problem& problem, const std::vector<std::string>& names) {
  if (names.empty()) return KernelChoice({}, {}).candidates(problem);
  Kernels kernels;
  for (const std::string& name : names) {
    if (name == kReferenceVariant) kernels.push_back(&reference_kernel());
    for (const Kernel* kernel : kernels_of(problem.op->name)) {
      if (is_wanted(*kernel, {name})) kernels.push_back(kernel);
    }
  }
  return kernels;
}

std::string variant_of(const Kernel& kernel) {
  return std::string(&kernel == &reference_kernel() ? kReferenceVariant : kernel.name);
}

void add_plan(PlannedCase planned, std::vector<PlannedCase>& plans) {
  const auto same = std::find_if(plans.begin(), plans.end(), [&](const PlannedCase& other) {
    return other.spec.format == planned.spec.format;
  });
  if (same == plans.end())
    plans.push_back(std::move(planned));
  else
    same->variants.push_back(std::move(planned.variants[0]));
}

/// Inputs of a recorded call, read on demand. Errors of `fill`: those of DumpSource::read.
class RecordedInputs : public InputSource {
 public:
  RecordedInputs(DumpSource& file, RecordedCall call) : file_(file), call_(std::move(call)) {}
  void fill(std::size_t input, const TensorDesc& desc, void* to) const override {
    read_recorded(file_, *call_.inputs[input], desc, to);
  }

 private:
  DumpSource& file_;
  RecordedCall call_;
};

/// Plans the records of one dump.
class LoadPlanner {
 public:
  LoadPlanner(DumpSource& file, const OpTable& table, const LoadSelection& selection)
      : file_(file), table_(table), selection_(selection) {}

  LoadPlan plan() {
    plan_.file = file_.name();
    const std::vector<const DumpRecord*> records = records_in_order(file_, selection_);
    plan_.problems = file_.problems();
    for (const DumpRecord* record : records) add_record(*record);
    check_variants();
    for (const Wanted& wanted : wanted_) add_cases(wanted);
    add_units();
    std::stable_sort(plan_.left_out.begin(), plan_.left_out.end(),
                     [](const LeftOut& a, const LeftOut& b) { return a.op < b.op; });
    return std::move(plan_);
  }

 private:
  /// A record whose operator the table has.
  struct Wanted {
    const DumpRecord* record;
    std::vector<RecordedCall> calls;
  };
  /// A recorded call as cases: one for each storage format that its variants require.
  struct CallCases {
    const RecordedCall* call;
    std::vector<PlannedCase> plans;
    std::shared_ptr<const LoadedRecord> record;
  };

  void add_record(const DumpRecord& record) {
    ++plan_.records;
    plan_.elements += output_elements(record);
    try {
      if (selection_.dumps) require_dumpable(record);
      RecordedCalls calls = calls_of(
          record, table_, [&](const DumpEntry& entry) { return recorded_numbers(file_, entry); });
      if (calls.drawn != Drawn::not_at_all) return leave_out(record, "drawn at random");
      if (calls.calls.empty()) return leave_out(record, calls.obstacle);
      for (const RecordedCall& call : calls.calls) ops_.insert(call.problem.op);
      wanted_.push_back({&record, std::move(calls.calls)});
    } catch (const Error& error) {
      leave_out(record, error.what());
    }
  }

  static void require_dumpable(const DumpRecord& record) {
    check_op_name(record.op);
    if (!record.seq || *record.seq < 0 || *record.seq > std::numeric_limits<int>::max()) {
      throw Error(fmt::format("'{}' is not a record number of a dump", record.seq_text));
    }
  }

  void check_variants() const {
    if (!ops_.empty()) check_variant_names(selection_.variants, variant_names(ops_));
  }

  void add_cases(const Wanted& wanted) {
    bool is_any = false;
    std::string obstacle;
    for (const RecordedCall& call : wanted.calls) {
      CallCases loaded{&call, {}, nullptr};
      const std::string dumped = add_variants(call.problem, loaded.plans, obstacle);
      if (loaded.plans.empty()) continue;
      loaded.record = record_of(*wanted.record, call, dumped);
      for (PlannedCase& planned : loaded.plans) {
        planned.spec.name = fmt::format("/{}/{}", wanted.record->op, wanted.record->seq_text);
      }
      plan_.run_elements += recorded_elements(call);
      cases_.push_back(std::move(loaded));
      is_any = true;
    }
    if (!is_any) return leave_out(*wanted.record, obstacle);
    ++plan_.run_records;
  }

  // Returns the variant that is dumped.
  std::string add_variants(const Problem& problem, std::vector<PlannedCase>& plans,
                           std::string& obstacle) const {
    const Kernels preferred = preferred_kernels(problem, selection_.variants);
    const bool takes_all = selection_.times && selection_.variants.empty();
    std::set<std::string> taken;
    for (const Kernel* kernel : takes_all ? kernels_of(problem.op->name) : preferred) {
      std::optional<PlannedCase> planned = plan_call(problem, *kernel, selection_.formats);
      if (!planned) continue;
      taken.insert(planned->variants[0].variant);
      add_plan(std::move(*planned), plans);
      if (!selection_.times) break;
    }
    if (plans.empty() && obstacle.empty()) obstacle = why_none(problem, preferred);
    const auto dumped = std::find_if(preferred.begin(), preferred.end(), [&](const Kernel* kernel) {
      return taken.contains(variant_of(*kernel));
    });
    return selection_.dumps && dumped != preferred.end() ? variant_of(**dumped) : "";
  }

  std::string why_none(const Problem& problem, const Kernels& tried) const {
    if (tried.empty()) {
      return fmt::format("{} has no variant {}", problem.op->name,
                         fmt::join(selection_.variants, " or "));
    }
    const std::string reason = refusal(*tried.front(), problem);
    return reason.empty()
               ? fmt::format("{} does not take it in any of these formats", tried.front()->name)
               : fmt::format("{}: {}", tried.front()->name, reason);
  }

  std::shared_ptr<const LoadedRecord> record_of(const DumpRecord& record, const RecordedCall& call,
                                                const std::string& dumped) const {
    LoadedRecord loaded{record.op, static_cast<int>(record.seq.value_or(0)), {}, dumped};
    for (const DumpEntry* output : call.outputs) {
      loaded.outputs.push_back(output == nullptr ? "" : output->name);
    }
    loaded.selecting = selection_.words;
    loaded.selecting.insert(
        loaded.selecting.end(),
        {"--only", pattern_of_name(fmt::format("{}/{}", record.op, record.seq_text))});
    return std::make_shared<LoadedRecord>(std::move(loaded));
  }

  void leave_out(const DumpRecord& record, const std::string& reason) {
    const auto known = std::find_if(
        plan_.left_out.begin(), plan_.left_out.end(),
        [&](const LeftOut& one) { return one.op == record.op && one.reason == reason; });
    LeftOut& left = known == plan_.left_out.end()
                        ? plan_.left_out.emplace_back(LeftOut{record.op, reason})
                        : *known;
    ++left.records;
    left.elements += output_elements(record);
  }

  // Adds calls with equal shapes as one case, with their number as its count.
  void add_units() {
    std::map<std::string, int> counts;
    const auto id = [](const CallCases& loaded) { return case_id(case_of(loaded.call->problem)); };
    for (const CallCases& loaded : cases_) ++counts[id(loaded)];
    std::set<std::string> seen;
    for (CallCases& loaded : cases_) {
      const bool is_first = seen.insert(id(loaded)).second;
      const auto inputs = std::make_shared<RecordedInputs>(file_, *loaded.call);
      for (PlannedCase& planned : loaded.plans) {
        planned.spec.count = is_first ? counts[id(loaded)] : 1;
        WorkUnit& unit = plan_.units.emplace_back(std::move(planned), inputs);
        unit.record = loaded.record;
        unit.is_repeat = !is_first;
      }
    }
    plan_.calls = cases_.size();
  }

  DumpSource& file_;
  const OpTable& table_;
  const LoadSelection& selection_;
  LoadPlan plan_;
  std::vector<Wanted> wanted_;
  std::vector<CallCases> cases_;
  std::set<const Op*> ops_;
};

}  // namespace

LoadPlan plan_load(DumpSource& file, const OpTable& table, const LoadSelection& selection) {
  return LoadPlanner(file, table, selection).plan();
}

namespace {

std::string share_text(std::int64_t part, std::int64_t whole) {
  const double share =
      whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.3g} %", share);
}

}  // namespace

void print_coverage(std::ostream& out, const LoadPlan& plan) {
  out << fmt::format("{} of {} records of {} are run, with {} of the elements of all results\n",
                     plan.run_records, plan.records, printable(plan.file),
                     share_text(plan.run_elements, plan.elements));
  if (!plan.left_out.empty()) out << "Not run:\n";
  for (const LeftOut& left : plan.left_out) {
    out << fmt::format("  {} {}x, {} of all elements: {}\n", printable(left.op), left.records,
                       share_text(left.elements, plan.elements), printable(left.reason));
  }
  if (!plan.problems.empty()) out << "Not read:\n";
  for (const std::string& problem : plan.problems) out << "  " << printable(problem) << '\n';
}

void print_loaded_cases(std::ostream& out, const LoadPlan& plan) {
  for (const WorkUnit& unit : plan.units) {
    out << fmt::format("{}  {}\n", printable(unit.name()), printable(unit.id));
    for (const SelectedKernels& variant : unit.planned_case->variants) {
      const bool is_dumped = variant.variant == unit.record->variant;
      out << fmt::format("  {}{}\n", variant.variant, is_dumped ? "  dumped" : "");
    }
  }
}

}  // namespace opbench
