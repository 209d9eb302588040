#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "profiles/call_links.h"
#include "profiles/case_builder.h"

namespace opbench {

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
    if (one == nullptr) one = &add(builder_.find(recorded));
    return *one;
  }

  const NetworkOperator& add(const RecordedOperator& found);
  BuiltCase built(const RecordedOperator& found) const;

  CaseBuilder builder_;
  Known tasks_, calls_;
  std::vector<std::unique_ptr<NetworkOperator>> all_;
};

}  // namespace opbench
