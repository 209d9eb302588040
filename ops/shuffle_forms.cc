#include "ops/shuffle_forms.h"

#include <fmt/format.h>

#include "ops/shuffle.h"
#include "ops/split.h"

namespace opbench {
namespace {

using Index = std::vector<std::int64_t>;

/// The calls of one use, appended in execution order.
class Writer {
 public:
  explicit Writer(const Problem& problem) : problem_(problem) {
    joined_shape_ = problem.inputs[0].shape;
    if (problem.inputs.size() > 1) joined_shape_[1] *= std::ssize(problem.inputs);
  }

  std::int64_t channels() const { return joined_shape_[1]; }
  std::int64_t groups() const { return problem_.attrs.integer("groups"); }

  /// All channels of the inputs.
  ComposedArg joined() {
    if (problem_.inputs.size() == 1) return {ComposedArg::input, 0};
    std::vector<ComposedArg> inputs;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      inputs.push_back({ComposedArg::input, i});
    }
    return call("concat", std::move(inputs), {});
  }

  ComposedArg shuffle(const ComposedArg& x, std::int64_t shuffle_groups) {
    return call("channel_shuffle", {x}, {{{"groups", shuffle_groups}}}, only_output());
  }

  ComposedArg select(const ComposedArg& x, Index index) {
    return call("index_select", {x, {ComposedArg::constant, 0, std::move(index)}},
                {{{"axis", std::int64_t{1}}}}, only_output());
  }

  // The framework's gradient of index_select: the rows of the gradient added to zeros.
  ComposedArg add_to_zeros(const ComposedArg& gradient, Index index) {
    ComposedArg zeros = gradient;
    zeros.as_zeros = true;
    return call("index_add", {zeros, {ComposedArg::constant, 0, std::move(index)}, gradient},
                {{{"axis", std::int64_t{1}}}});
  }

  /// An index_select for every output with its share of the index.
  void select_parts(const ComposedArg& x, const Index& index) {
    if (parts() == 1) {
      select(x, index);
      return;
    }
    const auto share = static_cast<std::ptrdiff_t>(index.size() / parts());
    for (std::size_t i = 0; i < parts(); ++i) {
      const auto begin = index.begin() + static_cast<std::ptrdiff_t>(i) * share;
      select(x, {begin, begin + share});
      ComposedCall& added = calls_.back();
      added.name += std::to_string(i);
      added.output = i;
      // Both halves of the backward pass of Full read the one gradient.
      added.shares_conversions = problem_.inputs.size() == 1;
    }
  }

  /// chunk: views of the parts, which the next operator needs dense.
  void spread(const ComposedArg& whole) {
    if (parts() == 1) return;
    const Index sizes(parts(), channels() / static_cast<std::int64_t>(parts()));
    for (ComposedCall& part : dense_parts(whole, joined_shape_, sizes, 1)) {
      calls_.push_back(std::move(part));
    }
  }

  std::vector<ComposedCall> take() { return std::move(calls_); }

 private:
  std::size_t parts() const { return problem_.outputs.size(); }
  std::optional<std::size_t> only_output() const {
    return parts() == 1 ? std::optional<std::size_t>(0) : std::nullopt;
  }

  ComposedArg call(std::string_view op, std::vector<ComposedArg> args,
                   std::span<const std::pair<std::string_view, AttrValue>> values,
                   std::optional<std::size_t> output = {}) {
    calls_.push_back({op, std::move(args), attrs_with(op, values), std::string(op), output});
    return {ComposedArg::result, calls_.size() - 1};
  }

  const Problem& problem_;
  Dims joined_shape_;
  std::vector<ComposedCall> calls_;
};

}  // namespace

std::vector<ComposedCall> compose_shuffle(const Problem& problem, std::string_view form) {
  Writer writer(problem);
  const ComposedArg joined = writer.joined();
  const Index index = fp_index(writer.channels(), writer.groups());
  if (form == "native") {
    writer.spread(writer.shuffle(joined, writer.groups()));
  } else if (form == "full") {
    writer.spread(writer.select(joined, index));
  } else {
    writer.select_parts(joined, index);
  }
  return writer.take();
}

std::vector<ComposedCall> compose_shuffle_grad(const Problem& problem, std::string_view form) {
  Writer writer(problem);
  const ComposedArg joined = writer.joined();
  const std::int64_t channels = writer.channels(), groups = writer.groups();
  if (form == "native") {
    writer.spread(writer.shuffle(joined, channels == 0 ? 1 : channels / groups));
  } else if (form == "index_add") {
    writer.spread(writer.add_to_zeros(joined, fp_index(channels, groups)));
  } else {
    writer.select_parts(joined, inverse_fp_index(channels, groups));
  }
  return writer.take();
}

}  // namespace opbench
