#include "cli/stored_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "harness/check/watch.h"
#include "harness/plan/case_filter.h"
#include "harness/plan/context_plan.h"
#include "harness/plan/plan.h"
#include "harness/plan/variant_names.h"
#include "tensor/dtype.h"
#include "tensor/error.h"
#include "tensor/format.h"
#include "tensor/nearest.h"

namespace opbench {
namespace {

void refuse_flags_of_a_run(const RunFlags& flags) {
  const std::pair<bool, const char*> kOfARun[] = {{part_of(flags) != Part{}, "--part"},
                                                  {flags.cold, "--cold"},
                                                  {flags.no_verify, "--no-verify"},
                                                  {!flags.isa.empty(), "--isa"}};
  for (const auto& [is_given, flag] : kOfARun) {
    if (!is_given) continue;
    throw Error(fmt::format(
        "{} says how to run, and nothing runs with --current FILE; leave one of them out", flag));
  }
}

bool names_cases(const CaseSelection& s) {
  return !s.shapes_file.empty() || !s.case_files.empty() || !s.case_ids.empty() ||
         !s.symbols.empty() || s.backward;
}

std::set<std::string> planned_keys(const CaseSelection& selection) {
  CaseFiles files(selection.symbols);
  std::set<std::string> keys;
  for (const PlannedCase& planned : make_plan(selection, files)) {
    keys.insert(case_key(planned.spec));
  }
  for (const PlannedContext& planned : make_context_plan(selection, files)) {
    keys.insert(planned.id());
  }
  return keys;
}

template <class Value>
bool is_named(const std::vector<Value>& wanted, std::string_view text) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(),
                                       [&](const Value& value) { return name(value) == text; });
}

bool is_wanted_variant(const Record& record, const std::vector<std::string>& wanted) {
  if (wanted.empty() || std::find(wanted.begin(), wanted.end(), record.variant) != wanted.end()) {
    return true;
  }
  if (record.step) return false;
  const auto kernels = kernels_of(record.op);
  return std::any_of(kernels.begin(), kernels.end(), [&](const Kernel* kernel) {
    return kernel->name == record.variant && is_wanted(*kernel, wanted);
  });
}

template <class Visit>
void for_each_record(const ResultsFile& results, Visit visit) {
  for (const Record& record : results.run.records) visit(record);
  for (const ResultsFile& other : results.others) for_each_record(other, visit);
}

}  // namespace

StoredSelection::StoredSelection(const RunFlags& flags)
    : options_(options_of(flags)), filter_(options_.selection.filter) {
  refuse_flags_of_a_run(flags);
  for (const std::string& op : options_.selection.ops) find_op(op);
  if (names_cases(options_.selection)) keys_ = planned_keys(options_.selection);
}

void StoredSelection::require_names(const ResultsFile& baseline, const ResultsFile& current) const {
  std::set<std::string> variants;
  for (const ResultsFile* results : {&baseline, &current}) {
    for_each_record(*results, [&](const Record& record) {
      variants.insert(record.variant);
      for (const Kernel* kernel : kernels_of(record.op)) {
        if (kernel->name == record.variant) variants.emplace(kernel->family_name());
      }
    });
  }
  const std::vector<std::string> known(variants.begin(), variants.end());
  for (const std::string& variant : options_.selection.variants) {
    if (variants.contains(variant)) continue;
    throw Error(fmt::format("neither {} nor {} has results of a variant '{}'{}", baseline.path,
                            current.path, variant, suggestion(variant, known)));
  }
}

bool StoredSelection::takes(const Record& record) const {
  const CaseSelection& s = options_.selection;
  const auto is_in = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  // --op with --shapes is in the plan.
  const bool is_case =
      keys_ ? keys_->contains(check::case_key_of(record)) : is_in(s.ops, record.op);
  return is_case && is_in(options_.threads, record.threads) && is_named(s.dtypes, record.dtype) &&
         is_named(s.formats, record.format) && is_wanted_variant(record, s.variants) &&
         filter_.takes(record.case_id, record.case_name);
}

bool StoredSelection::is_everything() const {
  return options_.selection == CaseSelection{} && options_.threads.empty();
}

void StoredSelection::narrow(ResultsFile& results) const {
  std::erase_if(results.run.records, [&](const Record& record) { return !takes(record); });
  for (ResultsFile& other : results.others) narrow(other);
}

}  // namespace opbench
