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

/// How alike two calls are: 0 or more.
using Likeness = std::function<double(std::size_t actual, std::size_t expected)>;

/// Pairs of places in two sequences, both rising.
using Alignment = std::vector<std::pair<std::size_t, std::size_t>>;

/// The order-preserving pairing with the largest sum of likenesses; of equal ones that with the
/// earliest partners. None beyond what `most_cells` comparisons find: the search keeps to a band
/// around the diagonals that both lengths ask for, after what is alike at both ends (likeness of at
/// least `sure`) has been paired. Empty if not even the narrowest band fits.
Alignment align(std::size_t actual, std::size_t expected, const Likeness& likeness, double sure,
                std::size_t most_cells);

/// The task that a call is in a graph, as the dump of a context notes it; empty: it does not say.
std::string_view task_of(const DumpRecord& call);

/// Compares calls of one operator in two dumps by shapes, dtypes and values of inputs; outputs'
/// values are what a comparison is after and say nothing here.
class CallLikeness {
 public:
  CallLikeness(const FamilyPair& family, const MatchOptions& options)
      : family_(family),
        options_(options),
        actual_(family.actual.calls.size()),
        expected_(family.expected.calls.size()) {}

  /// 0.05 for calls that differ in their tensors' sizes or kinds (better than no partner, worse
  /// than any other), 0.75 for equal sizes and 1 for equal shapes; to these last two up to 2 are
  /// added for inputs' values: all of it for equal ones, half at 5 % of distance, next to nothing
  /// for unrelated ones. Calls that both name their task (`task_of`) are sure of each other or not
  /// alike at all (-1), whatever they hold.
  double operator()(std::size_t actual, std::size_t expected);

  /// More than calls with other inputs can reach.
  static constexpr double kSure = 2.995;

  /// True once tasks were compared.
  bool has_compared_tasks() const { return has_compared_tasks_; }

  /// True once inputs' values were compared.
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
