#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/findings.h"

// The rules of `find_remarks`, by what they look at.
namespace opbench {

/// A profile as the rules look at it: operators by time, and by their ids.
class ProfileView {
 public:
  explicit ProfileView(const IngestResult& result);

  const HotSpots& spots() const { return result_.hot_spots; }
  const HotSpotRules& rules() const { return spots().rules(); }
  /// None where no step is known.
  const std::optional<StepTime>& step() const { return step_; }
  const std::vector<HotOperator>& operators() const { return operators_; }
  const HotOperator* by_id(std::uint32_t id) const;
  const HotType* type_by_id(std::uint32_t id) const;
  double share(const HotOperator& one) const { return spots().share(one.time); }

  /// A finding of rule `name` without evidence, of these shares; a warning from the rule's share
  /// on.
  Finding finding(std::string_view name, std::string what, double share,
                  std::optional<double> step_share) const;
  /// A finding of rule `name` that operators share; the first few are evidence.
  Finding finding(std::string_view name, std::string what,
                  const std::vector<const HotOperator*>& operators) const;

 private:
  const IngestResult& result_;
  std::optional<StepTime> step_;
  std::vector<HotOperator> operators_;
  std::vector<HotType> types_;
  std::vector<const HotOperator*> by_id_;
  std::vector<const HotType*> types_by_id_;
};

/// As many pieces of evidence as a finding has at most.
inline constexpr std::size_t kMostEvidence = 5;

/// "TransData 32,3,224,224 NCHW -> 32,1,224,224,8 NC1HWC0", for evidence.
std::string operator_text(const HotOperator& one);

/// "once", "12 times".
std::string times_text(std::int64_t count);

/// Communication, and time in which nothing runs; without a step, waits.
void find_what_does_not_compute(const ProfileView& view, std::vector<Finding>& found);
/// TransData, Cast and copies with what stands around them.
void find_conversions(const ProfileView& view, std::vector<Finding>& found);
/// AI_CPU operators and the dtype that sent them there.
void find_aicpu(const ProfileView& view, std::vector<Finding>& found);
/// Extents that are no multiples.
void find_misaligned(const ProfileView& view, std::vector<Finding>& found);
/// Block dims below the number of cores or no multiple of it.
void find_idle_cores(const ProfileView& view, const CoreCounts& cores, std::vector<Finding>& found);
/// Memory bound, compute bound, or neither.
void find_bounds(const ProfileView& view, std::vector<Finding>& found);
/// Rows of small operators.
void find_fusible(const ProfileView& view, std::vector<Finding>& found);

}  // namespace opbench
