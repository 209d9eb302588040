#include "harness/remedy/min_cut.h"

#include <algorithm>

namespace opbench {

void MinCut::add_edge(int a, int b, int forward, int backward) {
  std::vector<Edge>&from = edges_[std::size_t(a)], &to = edges_[std::size_t(b)];
  from.push_back({b, forward, to.size()});
  to.push_back({a, backward, from.size() - 1});
}

int MinCut::value(int source, int sink) {
  int sum = 0;
  while (find_levels(source, sink)) {
    next_.assign(edges_.size(), 0);
    while (const int pushed = push(source, sink, kUnlimited)) sum += pushed;
  }
  return sum;
}

bool MinCut::find_levels(int source, int sink) {
  level_.assign(edges_.size(), -1);
  level_[std::size_t(source)] = 0;
  std::vector<int> queue = {source};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Edge& edge : edges_[std::size_t(queue[i])]) {
      if (edge.left == 0 || level_[std::size_t(edge.to)] >= 0) continue;
      level_[std::size_t(edge.to)] = level_[std::size_t(queue[i])] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[std::size_t(sink)] >= 0;
}

// Along the levels. As deep as there are levels: a few for each task between source and sink.
int MinCut::push(int vertex, int sink, int most) {
  if (vertex == sink) return most;
  const auto v = std::size_t(vertex);
  for (std::size_t& i = next_[v]; i < edges_[v].size(); ++i) {
    Edge& edge = edges_[v][i];
    const auto to = std::size_t(edge.to);
    if (edge.left == 0 || level_[to] != level_[v] + 1) continue;
    const int pushed = push(edge.to, sink, std::min(most, edge.left));
    if (pushed == 0) continue;
    edge.left -= pushed;
    edges_[to][edge.back].left += pushed;
    return pushed;
  }
  return 0;
}

}  // namespace opbench
