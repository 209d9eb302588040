#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "harness/plan/plan_search.h"

namespace opbench {

/// A network of pipes whose smallest cut between two vertices is wanted. Dinic's algorithm.
class MinCut {
 public:
  static constexpr int kUnlimited = 1 << 29;

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
    std::size_t back;  // its twin among the edges of `to`
  };

  bool find_levels(int source, int sink);
  int block(int source, int sink);
  int fill(const std::vector<Edge*>& path);

  std::vector<std::vector<Edge>> edges_;
  std::vector<int> level_;
};

/// What no choice can go below, whatever the rules do with formats.
struct LowerBound {
  int trans_data = 0;
  int casts = 0;
};

/// Bounds for the graphs of a search, from what their operators can take alone.
///
/// Each operator takes and writes tensors plain or in a private format (NC1HWC0, FRACTAL_Z,
/// FRACTAL_NZ), as far as one of its kernels can. A tensor of which one operator wants the one and
/// another the other is converted at least once. The fewest such tensors over all ways of choosing
/// is a minimal cut between what can only be plain and what can only be private. Conversions
/// between private formats, and further ones of the same tensor, are not in it.
///
/// A Cast is counted once for a tensor that an operator takes or gives in another dtype than the
/// values have in all its kernels, and for each cast of the graph itself.
class LowerBounds {
 public:
  /// All outlive this.
  LowerBounds(PlanSearch& search, const std::vector<Choice>& choices, const PlanSetting& written)
      : outcomes_(search.outcomes()), choices_(choices), written_(written) {}

  LowerBound of(const SearchGraph& graph);

 private:
  /// What a kind of task can do with its inputs and then its outputs, one after the other.
  struct Ability {
    /// 0: plain only, 1: private only; -1: both, all of them alike where `is_joint`.
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
