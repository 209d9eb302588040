#include "ops/shuffle.h"

#include <fmt/format.h>

#include "tensor/error.h"

namespace opbench {

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
