#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/findings.h"

// The rules of `find_remarks`, grouped by their subject.
namespace opbench {

/// A profile for the rules: operators by time, and by their ids.
class ProfileView {
 public:
  explicit ProfileView(const IngestResult& result);

  const HotSpots& spots() const { return result_.hot_spots; }
  const HotSpotRules& rules() const { return spots().rules(); }
  const TraceProfile& trace() const { return result_.trace; }
  /// Empty if no step is known.
  const std::optional<StepTime>& step() const { return step_; }
  const std::vector<HotOperator>& operators() const { return operators_; }
  const HotOperator* by_id(std::uint32_t id) const;
  const HotType* type_by_id(std::uint32_t id) const;
  double share(const HotOperator& one) const { return spots().share(one.time); }

  /// A finding of rule `name` without evidence and with these shares; it could save all of them.
  Finding finding(std::string_view name, std::string what, double share,
                  std::optional<double> step_share) const;
  /// A finding of rule `name` about several operators. The first few are its evidence. `parts`:
  /// the parts of their times that it could save, from 0 to 1; without parts, all of them.
  Finding finding(std::string_view name, std::string what,
                  const std::vector<const HotOperator*>& operators,
                  const std::vector<double>& parts = {}) const;

 private:
  const IngestResult& result_;
  std::optional<StepTime> step_;
  std::vector<HotOperator> operators_;
  std::vector<HotType> types_;
  std::vector<const HotOperator*> by_id_;
  std::vector<const HotType*> types_by_id_;
};

/// The most pieces of evidence in a finding.
inline constexpr std::size_t kMostEvidence = 5;

/// An operator as evidence: "TransData 32,3,224,224 NCHW -> 32,1,224,224,8 NC1HWC0".
std::string operator_text(const HotOperator& one);

/// The type of an operator, or its name if it has no type; "?" if there is no such operator.
std::string type_text(const ProfileView& view, std::uint32_t id);

/// "once", "12 times".
std::string times_text(std::int64_t count);

/// Finds communication and idle time, by what the host does if it is known; without a step, waits.
void find_what_does_not_compute(const ProfileView& view, std::vector<Finding>& found);
/// Finds TransData, Cast and copies, with the operators before and after them.
void find_conversions(const ProfileView& view, std::vector<Finding>& found);
/// Finds AI_CPU operators and the dtype that AI Core does not support.
void find_aicpu(const ProfileView& view, std::vector<Finding>& found);
/// Finds extents that are not multiples of the block size.
void find_misaligned(const ProfileView& view, std::vector<Finding>& found);
/// Finds block dims that are below the number of cores or not a multiple of it.
void find_idle_cores(const ProfileView& view, const CoreCounts& cores, std::vector<Finding>& found);
/// Finds operators that are memory bound, compute bound, or neither.
void find_bounds(const ProfileView& view, std::vector<Finding>& found);
/// Finds operators that the metrics of the profiler bound: by the cube or the vector unit, by the
/// main memory, or by conflicts.
void find_metric_bounds(const ProfileView& view, const CoreCounts& cores_of_device,
                        std::vector<Finding>& found);
/// Finds errors in host logs, and operators that miss the cache of compiled operators.
void find_log_problems(const ProfileView& view, const HostLogs& logs, std::vector<Finding>& found);
/// Finds rows of small operators that can be fused.
void find_fusible(const ProfileView& view, std::vector<Finding>& found);

}  // namespace opbench
