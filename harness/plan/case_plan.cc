#include "harness/plan/case_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "harness/plan/case_graph.h"
#include "harness/plan/case_places.h"
#include "harness/plan/case_selection.h"
#include "harness/plan/context_id.h"
#include "harness/plan/reference_kernel.h"
#include "harness/plan/selected_kernels.h"
#include "ops/elementwise.h"
#include "tensor/error.h"

namespace opbench {
namespace {

const std::vector<DType> kDefaultDTypes = {DType::fp32};

template <class T>
const std::vector<T>& first_stated(const std::vector<T>& a, const std::vector<T>& b,
                                   const std::vector<T>& c) {
  return !a.empty() ? a : !b.empty() ? b : c;
}

// True if the rank suits the format. Other combinations are left out of the cross product.
bool fits(Format format, const Case& c) {
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.op->input(i).has_own_dtype() || !c.op->input(i).formats.empty()) continue;
    const Dims& shape = c.inputs[i].shape;
    try {
      storage_dims(format_for_rank(format, shape.size()), shape, default_c0(c.dtype));
    } catch (const Error&) {
      return false;
    }
  }
  return true;
}

constexpr std::size_t kMostCases = 100000;

/// Dtype of a case whose inputs all state one: the dtype that they are promoted to.
std::optional<DType> stated_dtype(const Case& c) {
  std::optional<DType> dtype;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.op->input(i).has_own_dtype()) continue;
    if (!c.inputs[i].dtype) return std::nullopt;
    dtype = dtype ? promoted(*dtype, *c.inputs[i].dtype) : *c.inputs[i].dtype;
  }
  return dtype;
}

void cross(const Case& base, const std::vector<DType>& dtypes, const std::vector<Format>& formats,
           std::vector<Case>& cases) {
  const std::optional<DType> stated = base.op->promotes ? stated_dtype(base) : std::nullopt;
  for (const DType dtype : stated ? std::vector<DType>{*stated} : dtypes) {
    for (const Format format : formats) {
      if (formats.size() > 1 && !fits(format, base)) continue;
      Case c = base;
      c.dtype = dtype;
      c.format = format;
      cases.push_back(std::move(c));
      if (cases.size() > kMostCases) {
        throw Error(fmt::format("{}: more than {} cases in one run", base.origin, kMostCases));
      }
    }
  }
}

std::vector<Dims> shapes_of(const Op& op, const NamedShape& shape, const Attrs& attrs) {
  try {
    return shapes_like(op, shape.shape, attrs);
  } catch (const Error& error) {
    throw Error(shape.origin, error.what());
  }
}

void add_op_over_shapes(const CaseSelection& selection, CaseFiles& files,
                        std::vector<Case>& cases) {
  if (selection.ops.empty() && selection.shapes_file.empty()) return;
  if (selection.ops.empty()) throw Error("--shapes needs --op NAME: the operator to run over them");
  if (selection.shapes_file.empty()) {
    throw Error(
        fmt::format("--op {} needs --shapes FILE (or use --case ID)", selection.ops.front()));
  }
  const CaseFile& file = files.file(selection.shapes_file);
  if (file.shapes.empty()) {
    throw Error(fmt::format("{}: the file has no 'shapes'; run its cases with --cases {}",
                            file.path, file.path));
  }
  for (const std::string& op_name : selection.ops) {
    Case base;
    base.op = &find_op(op_name);
    base.attrs = Attrs(base.op->attrs);
    for (const NamedShape& shape : file.shapes) {
      base.inputs.clear();
      for (Dims& input : shapes_of(*base.op, shape, base.attrs)) {
        base.inputs.push_back({std::move(input), {}, {}});
      }
      base.name = shape.name;
      base.count = shape.count;
      base.origin = shape.origin;
      cross(base, first_stated(selection.dtypes, file.dtypes, kDefaultDTypes),
            first_stated(selection.formats, file.formats, {Format::NCHW}), cases);
    }
  }
}

void add_case_files(const CaseSelection& selection, CaseFiles& files, std::vector<Case>& cases) {
  for (const CaseFile* found : files_named(selection.case_files, files)) {
    const CaseFile& file = *found;
    if (file.cases.empty() && file.contexts.empty()) {
      throw Error(
          fmt::format("{}: the file has no 'cases' and no 'contexts'; use its shapes with "
                      "--op NAME --shapes {}",
                      file.path, file.path));
    }
    for (const CaseTemplate& entry : file.cases) {
      cross(entry.base,
            first_stated(selection.dtypes, entry.dtypes.value_or(file.dtypes),
                         first_stated(file.dtypes, {}, kDefaultDTypes)),
            first_stated(selection.formats, entry.formats.value_or(file.formats),
                         first_stated(file.formats, {}, {Format::NCHW})),
            cases);
    }
  }
}

std::vector<Case> collect(const CaseSelection& selection, CaseFiles& files) {
  std::vector<Case> cases;
  const bool has_files = !selection.ops.empty() || !selection.case_files.empty();
  const bool is_overridden =
      !selection.dtypes.empty() || !selection.formats.empty() || !selection.symbols.empty();
  if (!selection.case_ids.empty() && !has_files && is_overridden) {
    throw Error(
        "--case states dtype, format and shape itself; leave out --dtype, --format and --set");
  }
  for (const std::string& id : selection.case_ids) {
    if (!parse_context_id(id)) cases.push_back(parse_case_id(id));
  }
  add_op_over_shapes(selection, files, cases);
  add_case_files(selection, files, cases);
  for (Case& c : cases) c.backward |= selection.backward;
  return cases;
}

void apply_filter(const CaseSelection& selection, std::vector<Case>& cases) {
  const CaseFilter filter(selection.filter);
  std::erase_if(cases, [&](const Case& c) { return !filter.takes(case_id(c), c.name); });
}

// Two cases with one id would be measured twice. They are joined, and their counts are added.
void join_repeated(std::vector<Case>& cases) {
  std::map<std::string, std::size_t> first;
  std::vector<Case> kept;
  for (Case& c : cases) {
    const auto [place, is_new] = first.emplace(case_id(c), kept.size());
    if (is_new) {
      kept.push_back(std::move(c));
      continue;
    }
    Case& same = kept[place->second];
    const std::int64_t calls = std::int64_t{same.count} + c.count;
    same.count = static_cast<int>(std::min<std::int64_t>(calls, std::numeric_limits<int>::max()));
    same.weight_us += c.weight_us;
  }
  cases = std::move(kept);
}

void apply_part(const CaseSelection& selection, std::vector<Case>& cases) {
  std::vector<Case> kept;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (selection.part.takes(i)) kept.push_back(std::move(cases[i]));
  }
  cases = std::move(kept);
}

using FormatsByOp = std::map<const Op*, std::set<Format>>;

// The case in those formats of its operator that it fits, without the selected ones.
std::vector<std::pair<Format, Graph>> in_other_formats(const Case& c, const FormatsByOp& selected) {
  std::vector<std::pair<Format, Graph>> graphs;
  for (const Format format : c.op->formats) {
    if (selected.at(c.op).contains(format) || !fits(format, c)) continue;
    Case other = c;
    other.format = format;
    try {
      graphs.emplace_back(format, build_graph(other));
    } catch (const Error&) {  // the operator refuses these shapes in this format
    }
  }
  return graphs;
}

// `by_id`: the case's id states its format.
std::vector<SelectedKernels> select_variants(const Case& c, const Graph& graph,
                                             const std::vector<std::string>& wanted, bool by_id,
                                             const FormatsByOp& selected) {
  std::vector<SelectedKernels> selections;
  std::optional<std::vector<std::pair<Format, Graph>>> others;
  for (const Kernel* kernel : kernels_of(c.op->name)) {
    if (!is_wanted(*kernel, wanted)) continue;
    SelectedKernels& selection = selections.emplace_back(select_kernels(graph, *kernel));
    if (selection.refusal.empty()) continue;
    if (!others) others = in_other_formats(c, selected);
    const auto taken = std::find_if(others->begin(), others->end(), [&](const auto& other) {
      return select_kernels(other.second, *kernel).refusal.empty();
    });
    if (taken != others->end()) {
      selection.refusal += fmt::format("; try {}{}{}", by_id ? "" : "--format ", name(taken->first),
                                       by_id ? " in the id" : "");
    }
  }
  if (std::find(wanted.begin(), wanted.end(), kReferenceVariant) != wanted.end()) {
    selections.push_back(select_reference(graph));
  }
  return selections;
}

// Steps of contexts are selected by name, like variants.
std::set<std::string> step_names(const CaseSelection& selection, CaseFiles& files) {
  std::set<std::string> names;
  if (selection.variants.empty()) return names;
  const auto add = [&](const Context& context) {
    for (const ContextStep& step : context.steps) names.insert(step.name);
  };
  for (const CaseFile* file : files_named(selection.case_files, files)) {
    for (const Context& context : file->contexts) add(context);
  }
  for (const NamedContext& named : contexts_by_id(selection)) add(named.context);
  return names;
}

// Names of the variants of these cases' operators, in addition to `known`.
std::set<std::string> known_variants(const std::vector<Case>& cases,
                                     std::set<std::string> known = {}) {
  std::set<const Op*> ops;
  for (const Case& c : cases) ops.insert(c.op);
  known.merge(variant_names(ops));
  return known;
}

}  // namespace

std::vector<PlannedCase> make_case_plan(const CaseSelection& selection, CaseFiles& files) {
  std::vector<Case> cases = collect(selection, files);
  check_variant_names(selection.variants, known_variants(cases, step_names(selection, files)));
  for (const Case& c : cases) {
    check_variant_names(c.variants, known_variants({c}));
    if (c.expected_failure) {
      check_variant_names(c.expected_failure->variants, known_variants({c}));
    }
  }
  apply_filter(selection, cases);
  join_repeated(cases);
  apply_part(selection, cases);
  std::vector<PlannedCase> plan;
  FormatsByOp formats;
  for (const Case& c : cases) formats[c.op].insert(c.format);
  for (Case& c : cases) {
    PlannedCase planned{std::move(c), {}, {}};
    planned.graph = build_graph(planned.spec);
    planned.variants =
        select_variants(planned.spec, planned.graph,
                        selection.variants.empty() ? planned.spec.variants : selection.variants,
                        !selection.case_ids.empty(), formats);
    plan.push_back(std::move(planned));
  }
  return plan;
}

std::vector<PlannedCase> make_case_plan(const CaseSelection& selection) {
  CaseFiles files(selection.symbols);
  return make_case_plan(selection, files);
}

}  // namespace opbench
