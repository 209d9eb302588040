#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/match_dumps.h"
#include "compare/match_families.h"

namespace opbench {

/// The similarity of two calls: 0 or more.
using Likeness = std::function<double(std::size_t actual, std::size_t expected)>;

/// Pairs of places in two sequences, both ascending.
using Alignment = std::vector<std::pair<std::size_t, std::size_t>>;

/// The order-preserving pairing with the largest sum of likenesses; among equal sums, the earliest
/// partners. Makes at most `most_cells` comparisons. If that is too few for all pairs, calls at
/// both ends with a likeness of at least `sure` are paired first. The search then covers a band
/// around the diagonals of both lengths. Empty if even the narrowest band does not fit.
Alignment align(std::size_t actual, std::size_t expected, const Likeness& likeness, double sure,
                std::size_t most_cells);

/// The task of a call in a graph, from the dump of a context; empty if it is not recorded.
std::string_view task_of(const DumpRecord& call);

/// Compares calls of an operator in two dumps by shapes, dtypes and values of inputs. The values of
/// outputs are the subject of the comparison, so they are not used here.
class CallLikeness {
 public:
  CallLikeness(const FamilyPair& family, const MatchOptions& options)
      : family_(family),
        options_(options),
        actual_(family.actual.calls.size()),
        expected_(family.expected.calls.size()) {}

  /// Returns 0.05 for calls whose tensors have other sizes or kinds: better than no partner, worse
  /// than any other. 0.75 for equal sizes, 1 for equal shapes. To these two, values of inputs add
  /// up to 2: 2 for equal values, 1 at a distance of 5 %, nearly 0 for unrelated values. If both
  /// calls name their task (`task_of`), only the task counts: kSure or more if equal, else -1.
  double operator()(std::size_t actual, std::size_t expected);

  /// More than calls with different inputs can reach.
  static constexpr double kSure = 2.995;

  /// True if tasks were compared.
  bool has_compared_tasks() const { return has_compared_tasks_; }

  /// True if values of inputs were compared.
  bool has_compared_values() const { return has_compared_values_; }

 private:
  struct Sketch {
    std::size_t shapes = 0, sizes = 0;  ///< hashes, whatever the tensors' order
    std::vector<std::vector<double>> inputs;
  };

  static Sketch sketch_of(const DumpRecord& call, const ValueSample& sample);
  static const Sketch& sketch(std::vector<std::optional<Sketch>>& sketches, std::size_t place,
                              const CallFamily& family, const ValueSample& sample);

  const FamilyPair& family_;
  const MatchOptions& options_;
  std::vector<std::optional<Sketch>> actual_, expected_;
  bool has_compared_tasks_ = false, has_compared_values_ = false;
};

}  // namespace opbench
