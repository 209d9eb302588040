#include "profiles/named_operator.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/profiled_tensor.h"

namespace opbench {
namespace {

using Names = std::vector<std::string>;

void add_tensor(NamedOperator& named, Side side, const std::string& name,
                const ProfiledTensor& tensor, const Dims& shape) {
  DumpEntry& entry = named.record.entries.emplace_back();
  entry.name = entry.path = name;
  entry.side = side;
  entry.kind = EntryKind::tensor;
  entry.device = DeviceType::npu;
  entry.desc = describe(tensor.dtype, shape);
}

// The shape of a sum with extents of 1 for the summed axes. The axes come from the log, or from the
// shapes.
Dims with_axes_kept(const ProfiledOperator& one, const Dims& y) {
  const Dims& x = *one.inputs[0].logical;
  const auto axes = one.attrs ? one.attrs->find("axes") : NamedNumbers::const_iterator();
  if (!one.attrs || axes == one.attrs->end()) return with_reduced_axes(x, y);
  Dims kept = x;
  const auto rank = static_cast<double>(x.size());
  for (const double axis : axes->second) {
    const double place = axis < 0 ? axis + rank : axis;
    if (!(place >= 0 && place < rank)) return with_reduced_axes(x, y);
    kept[static_cast<std::size_t>(place)] = 1;
  }
  return element_count(kept) == element_count(y) ? kept : with_reduced_axes(x, y);
}

// The input of that name, which is optional or not; null: no such input.
const TensorSpec* input_called(const OpUse& use, const std::string& name, bool is_optional) {
  for (std::size_t i = 0; i < use.inputs.size(); ++i) {
    const RecordedName& input = use.inputs[i];
    const auto found = std::find(input.names.begin(), input.names.end(), name);
    if (input.is_optional == is_optional && found != input.names.end()) return &use.op->input(i);
  }
  return nullptr;
}

bool may_be(const TensorSpec& input, DType dtype) {
  return input.dtypes.empty() ||
         std::find(input.dtypes.begin(), input.dtypes.end(), dtype) != input.dtypes.end();
}

// Some versions of CANN take a mask of numbers.
bool is_mask_of_numbers(const TensorSpec& spec, DType dtype) {
  return spec.has_own_dtype() && may_be(spec, DType::boolean) && !may_be(spec, dtype) &&
         is_floating(dtype);
}

// The number of optional inputs from `first` on that were left out: a tensor of this dtype cannot
// be any of them. A mask of numbers may be followed by inputs that cannot have its dtype either.
std::size_t left_out_from(const Names& names, std::size_t first, const OpUse& use, DType dtype) {
  std::size_t end = first;
  const TensorSpec* optional = input_called(use, tensor_name(names, end), true);
  const bool may_be_mask = optional != nullptr && is_mask_of_numbers(*optional, dtype);
  while (optional != nullptr && !may_be(*optional, dtype)) {
    optional = input_called(use, tensor_name(names, ++end), true);
  }
  if (!may_be_mask || optional != nullptr) return end - first;
  const TensorSpec* next = input_called(use, tensor_name(names, end), false);
  const bool is_next = next == nullptr ? end < names.size() : may_be(*next, dtype);
  return is_next ? end - first : 0;
}

void add_side(NamedOperator& named, const ProfiledOperator& one, const OpUse& use, Side side,
              const Names& names) {
  const auto& tensors = side == Side::input ? one.inputs : one.outputs;
  const bool is_sum = one.type.starts_with("ReduceSum");
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::string name = tensor_name(names, i + left_out);
    ProfiledTensor tensor = tensors[i];
    // An optional input that is not given is without a shape, or left out: the next tensor then has
    // a dtype that it cannot have.
    const TensorSpec* optional = side == Side::input ? input_called(use, name, true) : nullptr;
    if (optional != nullptr && tensor.storage.empty()) continue;
    if (optional != nullptr) {
      left_out += left_out_from(names, i + left_out, use, tensor.dtype);
      name = tensor_name(names, i + left_out);
      optional = input_called(use, name, true);
    }
    if (optional != nullptr && is_mask_of_numbers(*optional, tensor.dtype)) {
      const DType flags = optional->dtypes.front();
      named.notes.push_back(fmt::format("{} is {}: runs as {} of the same shape", name,
                                        opbench::name(tensor.dtype), opbench::name(flags)));
      tensor.dtype = flags;
    }
    if (name.empty() || name.starts_with('=') || tensor.is_absent) continue;
    if (!tensor.problem.empty() || !tensor.logical) {
      const std::string why =
          tensor.problem.empty()
              ? fmt::format("the logical shape of {} {} is not known", opbench::name(tensor.format),
                            to_string(tensor.storage))
              : tensor.problem;
      if (named.obstacle.empty()) {
        named.obstacle = fmt::format("{} {}: {}", side == Side::input ? "input" : "output", i, why);
      }
      continue;
    }
    const bool is_reduced =
        is_sum && side == Side::output && !one.inputs.empty() && one.inputs[0].logical.has_value();
    const Dims shape = is_reduced ? with_axes_kept(one, *tensor.logical) : *tensor.logical;
    add_tensor(named, side, name, tensor, shape);
    named.places.push_back(i);
  }
}

Names first_names(const std::vector<RecordedName>& wanted) {
  Names names;
  for (const RecordedName& one : wanted) names.push_back(one.names.empty() ? "" : one.names[0]);
  return names;
}

// Adds results that were computed in place: a missing result with the name of an input is that
// input.
void add_results_in_place(NamedOperator& named, const Names& results) {
  for (const std::string& result : results) {
    for (std::size_t i = 0; i < named.record.entries.size(); ++i) {
      const DumpEntry& entry = named.record.entries[i];
      if (entry.side != Side::input || entry.name != result) continue;
      DumpEntry same = entry;
      same.side = Side::output;
      named.record.entries.push_back(std::move(same));
      break;
    }
  }
}

}  // namespace

NamedOperator named_operator(const ProfiledOperator& one, const OpUse& use) {
  NamedOperator result;
  result.record.op = one.type;
  const ProfiledCall* known = find_profiled_call(one.type);
  // A row may state a result that depends on data wrongly, so that its name is not listed.
  const bool has_results = one.has_results && (known == nullptr || !known->outputs.empty());
  result.results = has_results ? Results::recorded : Results::unknown;
  add_side(result, one, use, Side::input,
           known != nullptr ? Names(known->inputs) : first_names(use.inputs));
  if (one.outputs.empty() && one.has_results)
    add_results_in_place(result, first_names(use.outputs));
  add_side(result, one, use, Side::output,
           known != nullptr ? Names(known->outputs) : first_names(use.outputs));
  return result;
}

}  // namespace opbench
