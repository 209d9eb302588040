#include "harness/run/unit_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "harness/plan/case.h"
#include "harness/plan/graph.h"
#include "harness/run/machine.h"

namespace opbench::units {
namespace {

/// Hash of a list of values. Every value ends with a line break, so that different lists have
/// different texts.
class Digest {
 public:
  template <class... Values>
  void add(const Values&... values) {
    ((text_ += fmt::format("{}\n", values)), ...);
    // Hashes the text while it grows, because a plan may have a million units.
    if (text_.size() > kFolded) text_ = hash();
  }
  std::string hash() const { return fmt::format("{:016x}", text_hash(text_)); }

 private:
  static constexpr std::size_t kFolded = 1 << 16;
  std::string text_;
};

void add_build(Digest& digest) {
  const Machine m = describe_machine();
  digest.add(m.version, m.revision, m.compiler, m.flags, m.build_type);
}

void add_options(Digest& digest, const RunOptions& options, const std::string& isa) {
  digest.add(fmt::format("{}", fmt::join(options.threads, ",")), isa, options.seconds_per_case,
             options.repetitions, options.until_noise, options.cold, options.input_copies,
             options.counters, options.verify, options.most_verified, options.standard,
             options.times);
}

void add_case(Digest& digest, const PlannedCase& planned) {
  const Case& c = planned.spec;
  digest.add(case_id(c), c.name, c.count, c.weight_us, seed_of(c));
  if (c.expected_failure) {
    digest.add("expected failure", fmt::format("{}", fmt::join(c.expected_failure->variants, ",")),
               c.expected_failure->dtypes.size(), c.expected_failure->reason);
    for (const DType dtype : c.expected_failure->dtypes) digest.add(name(dtype));
  }
  for (const SelectedKernels& selection : planned.variants) digest.add(selection.variant);
}

void add_step(Digest& digest, const PlannedStep& step) {
  digest.add(step.spec.name, step.spec.after, step.spec.samples, step.spec.precision.loss_scale,
             static_cast<int>(step.spec.precision.level),
             static_cast<int>(step.spec.precision.scaling),
             static_cast<int>(step.spec.precision.half), static_cast<int>(step.spec.standard.kind),
             step.spec.standard.limit, step.refusal());
  if (step.refusal().empty()) digest.add(text_of(step.graph, step.selection.kernels));
}

void add_context(Digest& digest, const PlannedContext& planned) {
  digest.add(planned.id(), planned.seed(), planned.spec.backward,
             static_cast<int>(planned.spec.loss), planned.loss_scale.value_or(0),
             planned.spec.update ? planned.spec.update->rate : 0);
  for (const PlannedStep& step : planned.steps) add_step(digest, step);
}

// See UnitPlan.
std::string plan_digest(std::span<const WorkUnit> units, const RunOptions& options,
                        const std::string& isa) {
  Digest digest;
  add_build(digest);
  add_options(digest, options, isa);
  const std::size_t cases = count_cases(units);
  digest.add(cases, units.size() - cases);
  for (const WorkUnit& unit : units) {
    if (unit.is_context())
      add_context(digest, *unit.context);
    else
      add_case(digest, *unit.planned_case);
  }
  return digest.hash();
}

}  // namespace

UnitPlan plan_units(std::vector<WorkUnit> units, const RunOptions& options,
                    const std::string& isa) {
  UnitPlan plan;
  plan.units = std::move(units);
  for (const WorkUnit& unit : plan.units) {
    plan.costs.push_back({unit.id, expected_seconds(unit, options)});
  }
  plan.digest = plan_digest(plan.units, options, isa);
  return plan;
}

std::vector<std::size_t> largest_first(const UnitPlan& plan) {
  std::vector<std::size_t> order(plan.costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return plan.costs[a].seconds > plan.costs[b].seconds;
  });
  return order;
}

std::vector<int> part_of_units(const UnitPlan& plan, int count) {
  using Load = std::pair<double, int>;  // seconds, part
  std::priority_queue<Load, std::vector<Load>, std::greater<>> parts;
  for (int part = 0; part < count; ++part) parts.emplace(0, part);
  std::vector<int> part_of(plan.costs.size());
  for (const std::size_t unit : largest_first(plan)) {
    const auto [seconds, part] = parts.top();
    parts.pop();
    part_of[unit] = part;
    parts.emplace(seconds + plan.costs[unit].seconds, part);
  }
  return part_of;
}

std::vector<std::size_t> units_of(const UnitPlan& plan, const Part& part) {
  const std::vector<int> part_of = part_of_units(plan, part.count);
  std::vector<std::size_t> units;
  for (std::size_t i = 0; i < part_of.size(); ++i) {
    if (part_of[i] == part.index - 1) units.push_back(i);
  }
  return units;
}

namespace {

// Rates of a typical machine. Only the ratios of the units' costs matter, and the order of large
// units.
constexpr double kBytesPerSecond = 5e9;
constexpr double kOperationsPerSecond = 1e10;
// Filling, the fp64 reference and its comparison, per byte and operation of the graph.
constexpr double kVerifiedBytesPerSecond = 2e8;
constexpr double kVerifiedOperationsPerSecond = 1e9;
constexpr double kSecondsPerVariant = 1e-3;
// The race of several copy methods before the variants of a case, relative to copying its bytes.
constexpr double kCopyShare = 1.5;

struct Work {
  double bytes = 0, operations = 0;

  explicit Work(const Traffic& traffic) : bytes(traffic.bytes()), operations(traffic.operations) {}
  double call() const { return bytes / kBytesPerSecond + operations / kOperationsPerSecond; }
  double verification() const {
    return bytes / kVerifiedBytesPerSecond + operations / kVerifiedOperationsPerSecond;
  }
};

// Every repetition has at least one call, however short the time is.
double measured(const Work& work, const RunOptions& options) {
  if (!options.times) return 0;
  return std::max(options.seconds_per_case, options.repetitions * work.call());
}

}  // namespace

double expected_seconds(const WorkUnit& unit, const RunOptions& options) {
  double seconds = 0;
  if (!unit.is_context()) {
    seconds = kCopyShare * measured(Work(unit.planned_case->graph.traffic()), options);
  }
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (!unit.selection(i).refusal.empty()) continue;
    const Work work(unit.graph(i).traffic());
    seconds += kSecondsPerVariant + measured(work, options);
    if (options.verify) seconds += 2 * work.verification();
  }
  return seconds * static_cast<double>(std::max<std::size_t>(options.threads.size(), 1));
}

}  // namespace opbench::units
