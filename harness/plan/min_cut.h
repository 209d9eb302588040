#pragma once

#include <cstddef>
#include <vector>

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

}  // namespace opbench
