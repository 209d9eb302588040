#include "kernels/kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#ifdef OPBENCH_HAS_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

#include <algorithm>
#include <map>
#include <string>

#include "kernels/replace_kernels.h"
#include "ops/elementwise.h"

namespace opbench {

std::string_view name(Provider provider) {
  switch (provider) {
    case Provider::framework:
      return "native";
    case Provider::npu:
      return "npu";
    case Provider::vendor:
      return "vendor";
    case Provider::own:
      return "own";
  }
  return "?";
}

namespace {

using KernelsByOp = std::map<std::string_view, std::vector<const Kernel*>>;

const Kernel* (*replacement_of)(const Kernel* kernel) = [](const Kernel* kernel) { return kernel; };

KernelsByOp kernels_by_op() {
  KernelsByOp sorted;
  for (const Kernel* kernel : RegisteredKernel::all()) {
    sorted[kernel->op].push_back(replacement_of(kernel));
  }
  for (auto& [op, kernels] : sorted) {
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const Kernel* a, const Kernel* b) { return a->provider < b->provider; });
  }
  return sorted;
}

// Variants of devices and libraries compute in floating point, unless they list integers. Inputs
// with their own dtypes, such as an index, are not checked.
std::string refused_dtype(const Kernel& kernel, const Problem& problem) {
  if (kernel.dtypes.empty()) {
    const bool is_floating_only =
        kernel.provider == Provider::npu || kernel.provider == Provider::vendor;
    const bool is_on_integers = problem.op->reference != nullptr && is_exact(problem);
    return is_floating_only && is_on_integers ? "it takes floating dtypes only" : "";
  }
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const DType dtype = problem.inputs[i].dtype;
    if (problem.op->input(i).has_own_dtype()) continue;
    if (std::find(kernel.dtypes.begin(), kernel.dtypes.end(), dtype) != kernel.dtypes.end()) {
      continue;
    }
    std::vector<std::string_view> names;
    for (const DType taken : kernel.dtypes) names.push_back(name(taken));
    return fmt::format("it takes {} only, found {}", fmt::join(names, ", "), name(dtype));
  }
  return {};
}

}  // namespace

const std::vector<const Kernel*>& kernels_of(std::string_view op) {
  // All kernels are registered before main begins. Sorted once, because each record of a dump needs
  // the list.
  static const KernelsByOp sorted = kernels_by_op();
  static const std::vector<const Kernel*> none;
  const auto found = sorted.find(op);
  return found == sorted.end() ? none : found->second;
}

void replace_kernels(const Kernel* (*replacement)(const Kernel* kernel)) {
  replacement_of = replacement;
}

std::string refusal(const Kernel& kernel, const Problem& problem) {
  if (std::string reason = refused_dtype(kernel, problem); !reason.empty()) return reason;
  if (!kernel.promotes && has_mixed_dtypes(*problem.op, problem.inputs)) {
    return "inputs of different dtypes must be cast to one before";
  }
  return kernel.refusal == nullptr ? std::string() : kernel.refusal(problem);
}

std::string note(const Kernel& kernel, const Problem& problem) {
  const bool is_silent = kernel.note == nullptr || !refusal(kernel, problem).empty();
  return is_silent ? std::string() : kernel.note(problem);
}

std::size_t temporary_bytes(const Kernel& kernel, const Problem& problem) {
  return kernel.temporary_bytes == nullptr ? 0 : kernel.temporary_bytes(problem);
}

std::string vendor_version() {
#ifdef OPBENCH_HAS_ONEDNN
  const dnnl_version_t* v = dnnl_version();
  return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
#else
  return {};
#endif
}

}  // namespace opbench
