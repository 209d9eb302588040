#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiles/call_graph.h"
#include "profiles/ingest.h"
#include "profiles/profiled_case.h"

namespace opbench {

/// What an operator on lists of tensors, such as ForeachAddList, computes: the same for each tensor
/// of a list, in their order; and the two gradients of a convolution that are computed in one call.
/// Another operator is its own only part. Empty where its outputs do not
/// say how long the lists are.
std::vector<ProfiledOperator> parts_of(const ProfiledOperator& one);

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

  RecordedOperator find_operator(const HotOperator& hot) const;
  RecordedOperator find_operator(const LoggedCall& call) const;
  /// Of the host: a call of the framework, whose results are not recorded.
  RecordedOperator find_operator(const TraceOperator& call) const;
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

/// The operators of a profile as those of a network, built when they are first asked for. A call is
/// known by its place among the calls of the log or of the trace, of which there is one.
class NetworkOperators {
 public:
  explicit NetworkOperators(const IngestResult& profile) : builder_(profile) {}

  const NetworkOperator& of(const HotOperator& hot) { return of(tasks_, hot.id, hot); }
  const NetworkOperator& of(std::size_t place, const LoggedCall& call) {
    return of(calls_, place, call);
  }
  const NetworkOperator& of(std::size_t place, const TraceOperator& call) {
    return of(calls_, place, call);
  }
  /// All that were asked for; none is known then.
  std::vector<std::unique_ptr<NetworkOperator>> take() { return std::move(all_); }

 private:
  using Known = std::map<std::size_t, const NetworkOperator*>;

  template <class Recorded>
  const NetworkOperator& of(Known& known, std::size_t key, const Recorded& recorded) {
    const NetworkOperator*& one = known[key];
    if (one == nullptr) one = &add(builder_.find_operator(recorded));
    return *one;
  }

  const NetworkOperator& add(const RecordedOperator& found);
  BuiltCase built(const RecordedOperator& found) const;

  CaseBuilder builder_;
  Known tasks_, calls_;
  std::vector<std::unique_ptr<NetworkOperator>> all_;
};

}  // namespace opbench
