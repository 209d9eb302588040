#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "harness/plan/plan_search.h"

namespace opbench {

/// Minimum cut between two vertices of a flow network, by Dinic's algorithm.
class MinCut {
 public:
  static constexpr int kUnlimited = 1 << 29;  ///< sums of two do not overflow int

  int add_vertex() {
    edges_.emplace_back();
    return static_cast<int>(edges_.size()) - 1;
  }
  /// From `a` to `b` with capacity `forward`, and back with `backward`.
  void add_edge(int a, int b, int forward, int backward = 0);
  /// The capacity of the smallest cut; call once.
  int value(int source, int sink);

 private:
  struct Edge {
    int to, left;
    std::size_t back;  // index of the reverse edge among the edges of `to`
  };

  bool find_levels(int source, int sink);
  int block(int source, int sink);
  int fill(const std::vector<Edge*>& path);

  std::vector<std::vector<Edge>> edges_;
  std::vector<int> level_;
};

/// A lower bound of the conversions in any setting.
struct LowerBound {
  int trans_data = 0;
  int casts = 0;
};

/// Lower bounds for the graphs of a search, from the formats that each operator takes alone.
///
/// Each operator takes and writes tensors plain or in a private format (NC1HWC0, FRACTAL_Z,
/// FRACTAL_NZ), if a kernel of it supports that. A tensor that one operator takes plain and another
/// takes private is converted at least once. The minimum number of such tensors is a minimum cut
/// between the places that can only be plain and those that can only be private. The bound does not
/// count conversions between private formats, nor further conversions of the same tensor.
///
/// A Cast is counted once for a tensor whose values have another dtype than all kernels of an
/// operator take or write, and for each cast of the graph itself.
class LowerBounds {
 public:
  /// All arguments must outlive this object.
  LowerBounds(PlanSearch& search, const std::vector<Choice>& choices, const PlanSetting& written)
      : outcomes_(search.outcomes()), choices_(choices), written_(written) {}

  LowerBound of(const SearchGraph& graph);

 private:
  /// Formats that a kind of task supports for its inputs and then its outputs.
  struct Ability {
    /// 0: plain only, 1: private only; -1: both. If `is_joint`, all places with -1 have the same
    /// format.
    std::vector<int> formats;
    bool is_joint = false;
    std::vector<bool> is_cast;  ///< always in another dtype than the values
  };
  struct Cut;

  const Ability& ability_of(int kind);
  static void join(const std::set<std::vector<int>>& sides, Ability& ability);
  std::vector<Problem> fits(int kind);
  int fewest_trans_data(const SearchGraph& graph);
  int fewest_casts(const SearchGraph& graph);
  bool is_kept_plain(int kind, std::size_t input) const;

  TaskOutcomes& outcomes_;
  const std::vector<Choice>& choices_;
  const PlanSetting& written_;
  std::map<int, Ability> abilities_;
};

}  // namespace opbench
