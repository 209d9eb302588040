#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/findings.h"

// The rules of `find_remarks`, by what they look at.
namespace opbench {

/// A profile as the rules look at it: operators by time, and by their ids.
class ProfileView {
 public:
  explicit ProfileView(const HotSpots& hot_spots);

  const HotSpots& spots() const { return spots_; }
  const HotSpotRules& rules() const { return spots_.rules(); }
  const std::vector<HotOperator>& operators() const { return operators_; }
  const HotOperator* by_id(std::uint32_t id) const;
  const HotType* type_by_id(std::uint32_t id) const;
  double share(const HotOperator& one) const { return spots_.share(one.time); }

  /// A finding of rule `name` that operators share; the first few are evidence.
  Finding finding(std::string_view name, std::string what,
                  const std::vector<const HotOperator*>& operators) const;

 private:
  const HotSpots& spots_;
  std::vector<HotOperator> operators_;
  std::vector<HotType> types_;
  std::vector<const HotOperator*> by_id_;
  std::vector<const HotType*> types_by_id_;
};

/// As many pieces of evidence as a finding has at most.
inline constexpr std::size_t kMostEvidence = 5;

/// "TransData 32,3,224,224 NCHW -> 32,1,224,224,8 NC1HWC0", for evidence.
std::string operator_text(const HotOperator& one);

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
