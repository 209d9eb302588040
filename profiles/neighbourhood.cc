#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "profiles/call_graph.h"
#include "profiles/network_context.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::size_t kNone = TensorLink::kOutside;

class Selection {
 public:
  Selection(const std::vector<NetworkCall>& calls, std::size_t centre, int depth)
      : calls_(calls), graph_(graph_of(calls, centre)), centre_(centre) {
    chosen_.insert(centre);
    spread(depth, [&](std::size_t call, auto reach) {
      for (const CallSource& source : graph_.nodes[call]->inputs) reach(source.node);
    });
    found_.has_producer = chosen_.size() > 1;
    const std::size_t before = chosen_.size();
    const auto readers = readers_of_nodes();
    spread(depth, [&](std::size_t call, auto reach) {
      for (const std::size_t reader : readers[call]) reach(reader);
    });
    found_.has_consumer = chosen_.size() > before;
  }

  Neighbourhood run() {
    found_.dtype = graph_.nodes[centre_]->spec.dtype;
    for (const std::size_t call : chosen_) name_node(call);
    for (const std::size_t call : chosen_) connect(call);
    for (NeighbourNode& node : found_.nodes) finish(node);
    found_.centre = names_.at(centre_);
    found_.trans_data = conversions_.size();
    found_.casts = casts_.size();
    tell_what_ends_it();
    return std::move(found_);
  }

 private:
  // Adds the calls that `neighbours` returns, step by step from the centre.
  template <class Neighbours>
  void spread(int depth, Neighbours neighbours) {
    std::vector<std::size_t> last = {centre_};
    for (int step = 0; step < depth && !last.empty(); ++step) {
      std::vector<std::size_t> next;
      for (const std::size_t call : last) {
        neighbours(call, [&](std::size_t other) {
          if (other != kNone && chosen_.insert(other).second) next.push_back(other);
        });
      }
      last = std::move(next);
    }
  }

  std::vector<std::vector<std::size_t>> readers_of_nodes() const {
    std::vector<std::vector<std::size_t>> readers(calls_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (!graph_.nodes[i]) continue;
      for (const CallSource& source : graph_.nodes[i]->inputs) {
        if (source.node != kNone) readers[source.node].push_back(i);
      }
    }
    return readers;
  }

  void name_node(std::size_t call) {
    const std::string op(graph_.nodes[call]->problem.op->name);
    const int number = ++counts_[op];
    names_[call] = number == 1 ? op : fmt::format("{}.{}", op, number);
  }

  std::string output_name(std::size_t call, std::size_t output) const {
    const std::string& node = names_.at(call);
    if (output == 0) return node;
    return fmt::format(
        "{}_from_{}",
        graph_.nodes[call]->problem.op->output_name(graph_.nodes[call]->problem, output), node);
  }

  void connect(std::size_t call) {
    const CallNode& of = *graph_.nodes[call];
    NeighbourNode node{call, names_.at(call), of.spec, {}, {}, {}};
    for (std::size_t i = 0; i < of.inputs.size(); ++i) {
      const CallSource& source = of.inputs[i];
      conversions_.insert(source.link.conversions.begin(), source.link.conversions.end());
      casts_.insert(source.casts.begin(), source.casts.end());
      if (source.node == kNone || !chosen_.contains(source.node)) {
        node.inputs.push_back(input_of(call, i));
        continue;
      }
      node.inputs.push_back(output_name(source.node, source.output));
      read_.emplace(source.node, source.output);
      ++found_.edges;
      if (source.link.is_ambiguous) node.ambiguous.push_back(node.inputs.back());
    }
    found_.ambiguous += node.ambiguous.size();
    found_.nodes.push_back(std::move(node));
  }

  // The name of the outside tensor that is input `i` of the call.
  std::string input_of(std::size_t call, std::size_t i) {
    const CallNode& node = *graph_.nodes[call];
    const TensorLink& link = node.inputs[i].link;
    const TensorDesc& desc = node.problem.inputs[i];
    const Op& op = *node.problem.op;
    NeighbourInput input{
        fmt::format("{}_of_{}", op.input_name(i), names_.at(call)), desc.shape, desc.dtype,
        op.input(i).has_own_dtype() || desc.dtype != found_.dtype,  {},         is_weight(op, i)};
    if (link.tensor != kNone) {
      const auto key = fmt::format("{} {} {} {}", link.call, link.tensor, to_string(desc.shape),
                                   name(desc.dtype));
      const auto [known, is_new] = inputs_.emplace(key, input.name);
      if (!is_new) return known->second;
      if (!op.input(i).has_own_dtype()) input.format = arriving_format(link, desc);
    }
    found_.inputs.push_back(input);
    return input.name;
  }

  std::optional<Format> arriving_format(const TensorLink& link, const TensorDesc& desc) const {
    const ProfiledTensor& tensor = link.call == kNone
                                       ? *graph_.links.outside[link.tensor]
                                       : calls_[link.call].op->recorded.outputs[link.tensor];
    if (!is_private(tensor.format)) return std::nullopt;
    try {
      const Format format = format_for_rank(tensor.format, desc.shape.size());
      describe(desc.dtype, desc.shape, format);
      return format;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  // Outputs that no node reads become results, if they were recorded.
  void finish(NeighbourNode& node) {
    const CallNode& of = *graph_.nodes[node.call];
    const auto& recorded = calls_[node.call].op->built.outputs;
    const auto is_any = [&](const auto& place) { return place.has_value(); };
    const bool tells = std::any_of(recorded.begin(), recorded.end(), is_any);
    for (std::size_t i = 0; i < of.problem.outputs.size(); ++i) {
      const bool is_read = read_.contains({node.call, i});
      const bool is_recorded = tells ? i < recorded.size() && recorded[i].has_value() : i == 0;
      const std::string name = is_read || is_recorded ? output_name(node.call, i) : "_";
      node.outputs.push_back(name);
      if (!is_read && is_recorded) found_.outputs.push_back(name);
    }
    while (node.outputs.size() > 1 && node.outputs.back() == "_") node.outputs.pop_back();
  }

  void tell_what_ends_it() {
    std::set<std::string> told;
    const auto tell = [&](const std::string& text) {
      if (told.insert(text).second) found_.left_out.push_back(text);
    };
    const auto is_no_case = [&](std::size_t call) {
      return call != kNone && !graph_.nodes[call] && !is_conversion(calls_[call].op->recorded);
    };
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      for (const TensorLink& link : graph_.links.inputs[i]) {
        if (chosen_.contains(i) && is_no_case(link.call)) {
          tell(fmt::format("{}, which makes an input: {}", described(calls_[link.call]),
                           calls_[link.call].op->built.obstacle));
        }
        if (chosen_.contains(link.call) && is_no_case(i)) {
          tell(fmt::format("{}, which reads a result: {}", described(calls_[i]),
                           calls_[i].op->built.obstacle));
        }
      }
    }
    for (const auto& [call, text] : graph_.refused) {
      if (chosen_.contains(call)) tell(text);
    }
  }

  const std::vector<NetworkCall>& calls_;
  CallGraph graph_;
  std::size_t centre_;
  std::set<std::size_t> chosen_, conversions_, casts_;
  std::map<std::string, int> counts_;
  std::map<std::size_t, std::string> names_;
  std::map<std::string, std::string> inputs_;           ///< names by tensor
  std::set<std::pair<std::size_t, std::size_t>> read_;  ///< outputs of nodes
  Neighbourhood found_;
};

}  // namespace

Neighbourhood neighbourhood_of(const std::vector<NetworkCall>& calls, std::size_t centre,
                               int depth) {
  return Selection(calls, centre, depth).run();
}

}  // namespace opbench
