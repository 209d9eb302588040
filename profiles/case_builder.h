#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiles/ingest.h"
#include "profiles/profiled_case.h"

namespace opbench {

/// An operator of a profile, with all that the profile tells of it.
struct RecordedOperator {
  ProfiledOperator one;
  ProfiledOperator stored;  ///< the same without what logs tell
  std::vector<std::string> notes;
  std::string obstacle;     ///< not empty: it is no case
  bool is_dropped = false;  ///< meant to be none: results are drawn, or memory is set
};

/// Builds cases of the operators of one profile from all that the profile tells: what its
/// conversions say of logical shapes, and the attributes in logs of the same network, where type,
/// shapes and dtypes are equal.
class CaseBuilder {
 public:
  explicit CaseBuilder(const IngestResult& profile);

  RecordedOperator find(const HotOperator& hot) const;
  RecordedOperator find(const LoggedCall& call) const;
  /// Of the host: a call of the framework, whose results are not recorded.
  RecordedOperator find(const TraceOperator& call) const;
  /// `one` may be a part of what was found.
  BuiltCase build(const ProfiledOperator& one) const;

 private:
  struct Logged {
    ProfiledOperator one;
    std::int64_t count;
  };

  void learn(const ProfiledOperator& one, double weight);
  void complete(RecordedOperator& found) const;

  LogicalShapes shapes_;
  std::map<std::string, std::vector<Logged>> logged_;  ///< by what tables know of them
};

}  // namespace opbench
