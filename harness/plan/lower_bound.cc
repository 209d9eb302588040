#include "harness/plan/lower_bound.h"

#include <algorithm>
#include <set>

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

// Saturates augmenting paths along the levels until no path is left (blocking flow). A path may be
// as long as the network is deep, so it is kept in a list instead of on the call stack.
int MinCut::block(int source, int sink) {
  std::vector<std::size_t> next(edges_.size());  // next edge to try, by vertex
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

// Adds the capacity of the path's narrowest edge to its flow, and returns that capacity.
int MinCut::fill(const std::vector<Edge*>& path) {
  int most = kUnlimited;
  for (const Edge* edge : path) most = std::min(most, edge->left);
  for (Edge* edge : path) {
    edge->left -= most;
    edges_[std::size_t(edge->to)][edge->back].left += most;
  }
  return most;
}

namespace {

constexpr int kPlain = 0, kPrivate = 1, kEither = -1;

int side_of(const TensorDesc& desc) { return is_private(desc.format) ? kPrivate : kPlain; }

// Dtype of the values of a task's tensors, inputs first; none: the tensor is not read.
std::optional<DType> dtype_of(const NodeUse& use, std::size_t slot) {
  if (slot < use.given.size()) return use.given[slot].dtype;
  return use.read_as[slot - use.given.size()];
}

std::vector<TensorDesc> tensors_of(const Problem& problem) {
  std::vector<TensorDesc> tensors = problem.inputs;
  tensors.insert(tensors.end(), problem.outputs.begin(), problem.outputs.end());
  return tensors;
}

// Settings that decide the kernels of a task and the formats that the engine takes.
std::vector<PlanSetting> settings_for(const Op& op, const std::vector<Choice>& choices,
                                      const PlanSetting& written) {
  std::vector<PlanSetting> settings = {written};
  for (const Choice& choice : choices) {
    const bool is_own = choice.rule == nullptr && choice.name == op.name;
    const bool is_asked = choice.rule != nullptr && !choice.is_graph &&
                          (op.context.engine_refusal != nullptr || op.context.variants != nullptr);
    if (!is_own && !is_asked) continue;
    const std::size_t before = settings.size();
    for (std::size_t word = 1; word < choice.words.size(); ++word) {
      for (std::size_t i = 0; i < before; ++i) {
        settings.push_back(settings[i]);
        choice.set(settings.back(), word);
      }
    }
  }
  return settings;
}

}  // namespace

/// Flow network of one graph. Each format that is open has a vertex.
struct LowerBounds::Cut {
  MinCut network;
  const int plain = network.add_vertex(), in_private = network.add_vertex();
  int counted = 0;  // tensors that are certainly required both plain and private

  int vertex(int side) {
    if (side == kEither) return network.add_vertex();
    return side == kPlain ? plain : in_private;
  }

  // Adds a tensor. It costs 1 unless all its ends are on the same side of the cut.
  void add_tensor(const std::set<int>& ends) {
    if (ends.size() < 2) return;
    if (ends.contains(plain) && ends.contains(in_private)) {
      ++counted;
      return;
    }
    if (ends.size() == 2) {
      network.add_edge(*ends.begin(), *ends.rbegin(), 1, 1);
      return;
    }
    const int from = network.add_vertex(), to = network.add_vertex();
    network.add_edge(from, to, 1);
    for (const int end : ends) {
      network.add_edge(end, from, MinCut::kUnlimited);
      network.add_edge(to, end, MinCut::kUnlimited);
    }
  }
};

LowerBound LowerBounds::of(const SearchGraph& graph) {
  return {fewest_trans_data(graph), fewest_casts(graph)};
}

int LowerBounds::fewest_trans_data(const SearchGraph& graph) {
  Cut cut;
  constexpr int kUnknown = -1;
  std::vector<int> written(graph.stored.size(), kUnknown);  // vertex of each tensor's writer
  std::vector<std::set<int>> ends(graph.stored.size());
  for (const SearchTask& task : graph.tasks) {
    const Ability& ability = ability_of(task.kind);
    int joint = kUnknown;
    const auto vertex_of = [&](std::size_t slot) {
      if (ability.formats[slot] != kEither || !ability.is_joint) {
        return cut.vertex(ability.formats[slot]);
      }
      if (joint == kUnknown) joint = cut.vertex(kEither);
      return joint;
    };
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
      const auto tensor = std::size_t(task.inputs[i]);
      if (written[tensor] == kUnknown) {  // the tensor is given: its storage is known, or open
        const int stored = graph.stored[tensor];
        const int side = stored != DescNumbers::kNone  ? side_of(outcomes_.descs()[stored])
                         : is_kept_plain(task.kind, i) ? kPlain
                                                       : kEither;
        written[tensor] = cut.vertex(side);
        ends[tensor].insert(written[tensor]);
      }
      ends[tensor].insert(vertex_of(i));
    }
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
      const auto tensor = std::size_t(task.outputs[i]);
      written[tensor] = vertex_of(task.inputs.size() + i);
      ends[tensor].insert(written[tensor]);
    }
  }
  for (const std::set<int>& tensor : ends) cut.add_tensor(tensor);
  return cut.counted + cut.network.value(cut.plain, cut.in_private);
}

int LowerBounds::fewest_casts(const SearchGraph& graph) {
  std::vector<bool> is_written_cast(graph.stored.size()), has_cast(graph.stored.size()),
      has_other(graph.stored.size()), is_read(graph.stored.size());
  int casts = 0;
  for (const SearchTask& task : graph.tasks) {
    const Ability& ability = ability_of(task.kind);
    const NodeUse& use = outcomes_.use_of(task.kind);
    if (outcomes_.op_of(task.kind).context.conversion == Conversion::dtype) ++casts;
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
      const auto tensor = std::size_t(task.inputs[i]);
      (ability.is_cast[i] ? has_cast : has_other)[tensor] = true;
    }
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
      const auto tensor = std::size_t(task.outputs[i]);
      is_written_cast[tensor] = ability.is_cast[task.inputs.size() + i];
      is_read[tensor] = use.read_as[i].has_value();
    }
  }
  for (std::size_t i = 0; i < graph.stored.size(); ++i) {
    const bool is_result_only = is_read[i] && !has_cast[i] && !has_other[i];
    if (is_written_cast[i] ? has_other[i] || is_result_only : has_cast[i]) ++casts;
  }
  return casts;
}

// False for zeros, and for a parameter that the framework may store in the format of its first
// reader.
bool LowerBounds::is_kept_plain(int kind, std::size_t input) const {
  const Op& op = outcomes_.op_of(kind);
  switch (outcomes_.use_of(kind).arrivals[input]) {
    case Arrival::stored:
      return true;
    case Arrival::zeros:
      return false;
    case Arrival::parameter:
      return op.context.keeps_parameters != nullptr &&
             op.context.keeps_parameters(outcomes_.node_of(kind).problem.attrs);
  }
  return false;
}

// The task in every format and by every kernel that some setting allows.
std::vector<Problem> LowerBounds::fits(int kind) {
  const Node& node = outcomes_.node_of(kind);
  const Op& op = *node.problem.op;
  std::vector<Problem> problems;
  for (const PlanSetting& setting : settings_for(op, choices_, written_)) {
    NodePlanner planner(setting.variants, setting.rules);
    const std::size_t before = problems.size();
    for (const Kernel* kernel : planner.candidates(node)) {
      if (problems.size() > before) break;  // the first kernel that takes it in some format
      for (const Format format : op.formats) {
        Problem problem;
        if (planner.fit(node, *kernel, format, problem).empty()) {
          problems.push_back(std::move(problem));
        }
      }
    }
  }
  return problems;
}

const LowerBounds::Ability& LowerBounds::ability_of(int kind) {
  const auto [place, is_new] = abilities_.try_emplace(kind);
  Ability& ability = place->second;
  if (!is_new) return ability;
  const NodeUse& use = outcomes_.use_of(kind);
  const std::size_t slots = use.given.size() + use.read_as.size();
  const bool is_any = outcomes_.op_of(kind).context.takes_any_storage;
  const std::vector<Problem> problems = is_any ? std::vector<Problem>{} : fits(kind);
  ability.is_cast.assign(slots, !problems.empty());
  ability.formats.assign(slots, kEither);
  std::set<std::vector<int>> sides;
  for (const Problem& problem : problems) {
    const std::vector<TensorDesc> tensors = tensors_of(problem);
    std::vector<int> side;
    for (std::size_t i = 0; i < slots; ++i) {
      side.push_back(side_of(tensors[i]));
      const std::optional<DType> values = dtype_of(use, i);
      if (!values || tensors[i].dtype == *values) ability.is_cast[i] = false;
    }
    sides.insert(std::move(side));
  }
  if (!sides.empty()) join(sides, ability);
  return ability;
}

// Combines all possible sides of a task. Sides that are equal in all of them are fixed. If only two
// combinations are left, and one is plain and the other private in all open places, the places are
// one joint decision. The set is sorted, so the plain one comes first.
void LowerBounds::join(const std::set<std::vector<int>>& sides, Ability& ability) {
  const std::vector<int>&first = *sides.begin(), &last = *sides.rbegin();
  ability.formats = first;
  ability.is_joint = sides.size() == 2;
  for (const std::vector<int>& side : sides) {
    for (std::size_t i = 0; i < side.size(); ++i) {
      if (side[i] != first[i]) ability.formats[i] = kEither;
      if (first[i] > last[i]) ability.is_joint = false;
    }
  }
}

}  // namespace opbench
