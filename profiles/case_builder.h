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

/// Splits an operator into parts. An operator on lists of tensors, such as ForeachAddList, gives a
/// part for each tensor of a list, in their order. A call that computes two gradients of a
/// convolution gives two parts. Any other operator is its only part. Empty if the outputs do not
/// determine the length of the lists.
std::vector<ProfiledOperator> parts_of(const ProfiledOperator& one);

/// An operator of a profile with all recorded properties.
struct RecordedOperator {
  ProfiledOperator one;
  ProfiledOperator stored;  ///< `one` without the properties that come from logs
  std::vector<std::string> notes;
  std::string obstacle;     ///< the reason why there is no case; empty if there may be a case
  bool is_dropped = false;  ///< excluded on purpose: results are random, or memory is set
};

/// Builds cases for the operators of one profile. Its conversions give logical shapes. Logs of the
/// same network give attributes, for calls of equal type, shapes and dtypes.
class CaseBuilder {
 public:
  explicit CaseBuilder(const IngestResult& profile);

  RecordedOperator find_operator(const HotOperator& hot) const;
  RecordedOperator find_operator(const LoggedCall& call) const;
  /// A call of the framework on the host; its results are not recorded.
  RecordedOperator find_operator(const TraceOperator& call) const;
  /// `one` may be a part of the operator found.
  BuiltCase build(const ProfiledOperator& one) const;

 private:
  struct Logged {
    ProfiledOperator one;
    std::int64_t count;
  };

  void learn(const ProfiledOperator& one, double weight);
  void complete(RecordedOperator& found) const;

  LogicalShapes shapes_;
  std::map<std::string, std::vector<Logged>> logged_;  ///< by the fields that tables have too
};

/// The operators of a profile as those of a network, each built on first use. A call is identified
/// by its place in the log or the trace; a profile uses only one of them.
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
  /// Returns all operators built so far and forgets them.
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
