#include "harness/plan/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/shuffle.h"
#include "ops/split.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kGrad = "_grad";

bool is_one_of(std::string_view text, const std::vector<std::string_view>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

class Lowering {
 public:
  Lowering(const LogicalGraph& logical, const Variants& variants, const FrameworkRules& rules)
      : logical_(logical), variants_(variants), rules_(rules) {
    result_.graph.tensors = logical.graph.tensors;
    result_.results = logical.results;
    result_.arriving = logical.arriving;
  }

  LogicalGraph run() {
    for (const Node& node : logical_.graph.nodes) lower(node);
    return std::move(result_);
  }

 private:
  void lower(const Node& node) {
    const std::string_view op = node.problem.op->name;
    const std::string form = form_of(op);
    base_ = &node;
    if (!is_one_of(form, lowered_forms(op))) {
      result_.graph.nodes.push_back(node);
    } else if (op == "split") {
      lower_split(node.inputs[0], split_sizes(node.problem.inputs[0].shape, node.problem.attrs),
                  node.problem.attrs.integer("axis"));
    } else if (op.ends_with(kGrad)) {
      lower_backward(form);
    } else {
      lower_forward(form);
    }
  }

  // Of an operator or the one whose gradient it is; the framework's form where none is stated.
  std::string form_of(std::string_view op) const {
    if (const auto found = variants_.find(std::string(op)); found != variants_.end()) {
      return found->second.front();
    }
    if (op.ends_with(kGrad)) return form_of(op.substr(0, op.size() - kGrad.size()));
    return "native";
  }

  std::int64_t groups() const { return base_->problem.attrs.integer("groups"); }
  std::size_t parts() const { return base_->outputs.size(); }

  void lower_forward(const std::string& form) {
    const std::size_t joined = concat(base_->inputs);
    const std::int64_t channels = shape_of(joined)[1];
    if (form == "native") {
      spread(shuffle(joined, groups()));
    } else if (form == "full") {
      spread(index_select(joined, fp_index(channels, groups()), "index_select",
                          parts() == 1 ? base_->outputs[0] : kNew));
    } else {
      select_parts(joined, fp_index(channels, groups()));
    }
  }

  void lower_backward(const std::string& form) {
    const std::size_t joined = base_->inputs.size() == 1 ? base_->inputs[0] : concat(base_->inputs);
    const std::int64_t channels = shape_of(joined)[1];
    if (form == "native") {
      spread(shuffle(joined, channels == 0 ? 1 : channels / groups()));
    } else if (form == "index_add") {
      spread(index_add(joined, fp_index(channels, groups())));
    } else {
      select_parts(joined, inverse_fp_index(channels, groups()));
    }
  }

  std::size_t concat(const std::vector<std::size_t>& inputs) {
    return emit("concat", inputs, {}, "concat");
  }

  std::size_t shuffle(std::size_t x, std::int64_t shuffle_groups) {
    return emit("channel_shuffle", {x}, {{"groups", shuffle_groups}}, "channel_shuffle",
                parts() == 1 ? base_->outputs[0] : kNew);
  }

  std::size_t index_select(std::size_t x, const std::vector<std::int64_t>& index,
                           const std::string& name, std::size_t output) {
    return emit("index_select", {x, index_of(index, name)}, {{"axis", std::int64_t{1}}}, name,
                output);
  }

  // The framework's gradient of index_select: the rows of the gradient added to zeros.
  std::size_t index_add(std::size_t gradient, const std::vector<std::int64_t>& index) {
    const std::size_t zeros = add_tensor(result_.graph, name("zeros"),
                                         result_.graph.tensors[gradient].desc, GraphTensor::zeros);
    return emit("index_add", {zeros, index_of(index, "index_add"), gradient},
                {{"axis", std::int64_t{1}}}, "index_add");
  }

  // An index_select for every output with its share of the index.
  void select_parts(std::size_t x, const std::vector<std::int64_t>& index) {
    if (parts() == 1) {
      index_select(x, index, "index_select", base_->outputs[0]);
      return;
    }
    const auto share = static_cast<std::ptrdiff_t>(index.size() / parts());
    for (std::size_t i = 0; i < parts(); ++i) {
      const auto begin = index.begin() + static_cast<std::ptrdiff_t>(i) * share;
      index_select(x, {begin, begin + share}, fmt::format("index_select{}", i), base_->outputs[i]);
    }
    if (base_->inputs.size() > 1) return;
    // Both halves of the backward pass of Full read the one gradient.
    ++shared_;
    for (std::size_t i = 0; i < parts(); ++i) {
      result_.graph.nodes[result_.graph.nodes.size() - 1 - i].shares_conversions = shared_;
    }
  }

  // chunk: views of the parts, which the next operator needs dense.
  void spread(std::size_t whole) {
    if (parts() == 1) return;
    const std::int64_t share = shape_of(whole)[1] / static_cast<std::int64_t>(parts());
    lower_split(whole, std::vector<std::int64_t>(parts(), share), 1);
  }

  void lower_split(std::size_t whole, const std::vector<std::int64_t>& sizes, std::int64_t axis) {
    if (axis < 0) axis += std::ssize(shape_of(whole));
    std::int64_t start = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::string view = fmt::format("slice({},{},{})", axis, start, sizes[i]);
      emit("contiguous", {whole}, {{"view", view}}, fmt::format("contiguous{}", i),
           base_->outputs[i]);
      start += sizes[i];
    }
  }

  std::size_t index_of(const std::vector<std::int64_t>& index, const std::string& user) {
    const bool is_cached = rules_.index == FrameworkRules::Index::cached;
    const TensorDesc desc = describe(is_cached ? DType::int32 : DType::int64, {std::ssize(index)});
    const std::size_t added =
        add_tensor(result_.graph, name(user + ".index"), desc, GraphTensor::constant);
    result_.graph.tensors[added].index = index;
    if (is_cached) return added;
    const std::size_t cast =
        emit("cast", {added}, {{"to", std::string("int32")}}, user + ".index.cast");
    result_.graph.nodes.back().cause = fmt::format(
        "{}: int64 index made for every call (index is generated)", base_->problem.op->name);
    return cast;
  }

  static constexpr std::size_t kNew = Node::kNone;

  // Appends a call; its first output is `output`, or a tensor of its own.
  std::size_t emit(std::string_view op_name, const std::vector<std::size_t>& inputs,
                   const std::vector<std::pair<std::string_view, AttrValue>>& values,
                   const std::string& suffix, std::size_t output = kNew) {
    const Op& op = find_op(op_name);
    Attrs attrs(op.attrs);
    for (const auto& [key, value] : values) attrs.put(key, value);
    Graph& graph = result_.graph;
    const std::size_t added = add_node(graph, op, inputs, std::move(attrs), name(suffix) + ".");
    Node& node = graph.nodes[added];
    node.name = name(suffix);
    node.origin = base_->origin;
    node.under_test = base_->under_test;
    if (output != kNew) {
      graph.tensors.pop_back();  // the one that add_node made for it
      node.outputs[0] = output;
    }
    return node.outputs[0];
  }

  std::string name(const std::string& suffix) const {
    return fmt::format("{}.{}", base_->name.empty() ? base_->problem.op->name : base_->name,
                       suffix);
  }
  const Dims& shape_of(std::size_t tensor) const {
    return result_.graph.tensors[tensor].desc.shape;
  }

  const LogicalGraph& logical_;
  const Variants& variants_;
  const FrameworkRules& rules_;
  LogicalGraph result_;
  const Node* base_ = nullptr;
  int shared_ = 0;
};

}  // namespace

LogicalGraph lower(const LogicalGraph& logical, const Variants& variants,
                   const FrameworkRules& rules) {
  return Lowering(logical, variants, rules).run();
}

}  // namespace opbench
