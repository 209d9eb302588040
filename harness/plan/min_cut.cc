#include "harness/plan/min_cut.h"

#include <algorithm>

namespace opbench {
namespace {

constexpr int kUnreached = -1;

}  // namespace

void MinCut::add_edge(int a, int b, int forward, int backward) {
  std::vector<Edge>&from = edges_[std::size_t(a)], &to = edges_[std::size_t(b)];
  from.push_back({b, forward, to.size()});
  to.push_back({a, backward, from.size() - 1});
}

int MinCut::value(int source, int sink) {
  int sum = 0;
  while (find_levels(source, sink)) sum += block(source, sink);
  return sum;
}

bool MinCut::find_levels(int source, int sink) {
  level_.assign(edges_.size(), kUnreached);
  level_[std::size_t(source)] = 0;
  std::vector<int> queue = {source};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Edge& edge : edges_[std::size_t(queue[i])]) {
      if (edge.left == 0 || level_[std::size_t(edge.to)] != kUnreached) continue;
      level_[std::size_t(edge.to)] = level_[std::size_t(queue[i])] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[std::size_t(sink)] != kUnreached;
}

// Fills path after path along the levels until there is none. Paths may be as long as the network
// is deep, so they are kept in a list and not in calls.
int MinCut::block(int source, int sink) {
  std::vector<std::size_t> next(edges_.size());  // the edge of each vertex that is tried next
  std::vector<Edge*> path;
  int sum = 0;
  for (;;) {
    const auto here = std::size_t(path.empty() ? source : path.back()->to);
    if (here == std::size_t(sink)) {
      sum += fill(path);
      path.clear();
      continue;
    }
    std::vector<Edge>& edges = edges_[here];
    const auto leads_on = [&](const Edge& edge) {
      return edge.left > 0 && level_[std::size_t(edge.to)] == level_[here] + 1;
    };
    while (next[here] < edges.size() && !leads_on(edges[next[here]])) ++next[here];
    if (next[here] < edges.size()) {
      path.push_back(&edges[next[here]]);
      continue;
    }
    if (path.empty()) return sum;
    level_[here] = kUnreached;
    path.pop_back();
  }
}

// As much as the narrowest edge lets through; returns that.
int MinCut::fill(const std::vector<Edge*>& path) {
  int most = kUnlimited;
  for (const Edge* edge : path) most = std::min(most, edge->left);
  for (Edge* edge : path) {
    edge->left -= most;
    edges_[std::size_t(edge->to)][edge->back].left += most;
  }
  return most;
}

}  // namespace opbench
