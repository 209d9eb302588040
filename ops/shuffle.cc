#include "ops/shuffle.h"

#include <fmt/format.h>

#include "tensor/error.h"

namespace opbench {
namespace {

using Index = std::vector<std::int64_t>;

/// Appends the calls of one use in execution order.
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

  // The framework's gradient of index_select: the rows of the gradient added to zeros. A framework
  // that computes it on the host copies the index there first.
  ComposedArg add_to_zeros(const ComposedArg& gradient, const Index& index, bool on_host) {
    ComposedArg zeros = gradient, places{ComposedArg::constant, 0, index};
    zeros.as_zeros = true;
    if (on_host) {
      places =
          call("contiguous", {places}, {{{"view", fmt::format("slice(0,0,{},1)", index.size())}}});
      calls_.back().name = "index_to_host";
    }
    return call("index_add", {zeros, places, gradient}, {{{"axis", std::int64_t{1}}}});
  }

  /// An index_select with a part of the index for every output.
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
      // Both halves of the backward pass of form "full" read the same gradient.
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
  } else if (form.starts_with("index_add")) {
    const bool on_host = form == "index_add_host";
    writer.spread(writer.add_to_zeros(joined, fp_index(channels, groups), on_host));
  } else {
    writer.select_parts(joined, inverse_fp_index(channels, groups));
  }
  return writer.take();
}

std::vector<std::int64_t> fp_index(std::int64_t channels, std::int64_t groups) {
  const std::int64_t per_group = channels / groups;
  std::vector<std::int64_t> index;
  index.reserve(static_cast<std::size_t>(channels));
  for (std::int64_t i = 0; i < channels; ++i) index.push_back(i % groups * per_group + i / groups);
  return index;
}

std::vector<std::int64_t> inverse_fp_index(std::int64_t channels, std::int64_t groups) {
  return channels == 0 ? std::vector<std::int64_t>{} : fp_index(channels, channels / groups);
}

StridedView shuffled_view(const Dims& shape, std::int64_t groups) {
  const AxisView view(shape, 1);
  return transpose(dense_view({view.outer, groups, view.extent / groups, view.inner}), 1, 2);
}

void require_channels(std::string_view op, std::string_view input, const Dims& shape) {
  if (shape.size() >= 2) return;
  throw Error(
      fmt::format("{}: input '{}' has shape {}; allowed: at least 2 dimensions, (N, C, ...)", op,
                  input, to_string(shape)));
}

void require_groups(std::string_view op, std::int64_t channels, std::int64_t groups) {
  if (channels % groups == 0) return;
  throw Error(fmt::format("{}: {} channels in groups={}; allowed: groups that divide the channels",
                          op, channels, groups));
}

AttrSpec groups_attr() {
  return {"groups", std::int64_t{2}, "rows of the matrix of channels that is transposed",
          [](const AttrValue& value) -> std::string {
            return std::get<std::int64_t>(value) >= 1 ? "" : "allowed: whole numbers from 1";
          }};
}

ExactReference joined_channels_moved(std::span<const InputReader> inputs,
                                     std::int64_t output_channels,
                                     std::vector<std::int64_t> source_of) {
  const AxisView view(inputs[0].desc().shape, 1);
  return moved(
      inputs,
      [=, source_of = std::move(source_of)](std::size_t output, std::int64_t element) -> SourceRun {
        const std::int64_t plane = element / view.inner, position = element % view.inner;
        const std::int64_t channel =
            static_cast<std::int64_t>(output) * output_channels + plane % output_channels;
        const std::int64_t from = source_of[static_cast<std::size_t>(channel)];
        const std::int64_t from_plane = plane / output_channels * view.extent + from % view.extent;
        return {static_cast<std::size_t>(from / view.extent), from_plane * view.inner + position,
                view.inner - position};
      });
}

Dims joined_shape(std::string_view op, std::span<const TensorDesc> halves, const Attrs& attrs) {
  const Op& shuffle = find_op(op);
  require_channels(op, shuffle.input_name(0), halves[0].shape);
  if (halves[1] != halves[0]) {
    throw Error(fmt::format("{}: inputs '{}' and '{}' must be alike, found {} and {}", op,
                            shuffle.input_name(0), shuffle.input_name(1), to_string(halves[0]),
                            to_string(halves[1])));
  }
  Dims shape = halves[0].shape;
  if (__builtin_add_overflow(shape[1], shape[1], &shape[1])) {
    throw Error(fmt::format("{}: shape {} twice has more than 2^63 - 1 channels", op,
                            to_string(halves[0].shape)));
  }
  require_groups(op, shape[1], attrs.integer("groups"));
  return shape;
}

Dims half_shape(std::string_view op, std::string_view input, const Dims& joined) {
  require_channels(op, input, joined);
  if (joined[1] % 2 != 0) {
    throw Error(fmt::format("{}: input '{}' has shape {}; allowed: an even number of channels", op,
                            input, to_string(joined)));
  }
  Dims shape = joined;
  shape[1] /= 2;
  return shape;
}

}  // namespace opbench
