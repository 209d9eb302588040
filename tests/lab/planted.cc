#include "tests/lab/planted.h"

#include <fmt/format.h>

#include <utility>

#include "harness/plan/case_graph.h"
#include "harness/plan/selected_kernels.h"
#include "harness/run/unit_runner.h"
#include "tensor/error.h"

namespace opbench {
namespace {

/// The wrapper for the kernel being prepared, because `Kernel::prepare` is a function without
/// state.
struct Planting {
  const Kernel* honest = nullptr;
  Wrap wrap = nullptr;
};
Planting planting;

Launch prepare_planted(const Problem& problem) {
  return planting.wrap(planting.honest->prepare(problem), problem);
}

}  // namespace

PlannedCase plan_one(const std::string& case_id, std::string_view variant) {
  PlannedCase planned{parse_case_id(case_id), {}, {}};
  planned.graph = build_graph(planned.spec);
  for (const Kernel* kernel : kernels_of(planned.spec.op->name)) {
    if (kernel->name == variant) planned.variants = {select_kernels(planned.graph, *kernel)};
  }
  if (planned.variants.empty()) {
    throw Error(fmt::format("{} has no variant '{}'", planned.spec.op->name, variant));
  }
  return planned;
}

Record run_planted(PlannedCase planned, Wrap wrap, const RunOptions& options, int threads) {
  SelectedKernels& variant = planned.variants.at(0);
  const Kernel& honest = *variant.kernels.at(0);
  Kernel kernel = honest;
  kernel.prepare = prepare_planted;
  variant.kernels[0] = &kernel;
  planting = {&honest, wrap};
  PhaseTimes times;
  return run_work_unit(std::move(planned), options, threads, {}, times).at(0);
}

RunOptions short_run(double seconds) {
  RunOptions options;
  options.seconds_per_case = seconds;
  options.repetitions = 2;
  return options;
}

double value_at(const TensorDesc& desc, const void* storage, std::int64_t place) {
  double value = 0;
  read_doubles(desc, storage, {place, 1}, {&value, 1});
  return value;
}

void put_value(const TensorDesc& desc, void* storage, std::int64_t place, double value) {
  std::byte bits[sizeof(double)] = {};
  from_doubles(desc.dtype, &value, 1, bits);
  write_elements(desc, storage, {place, 1}, bits);
}

}  // namespace opbench
