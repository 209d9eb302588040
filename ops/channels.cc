#include "ops/channels.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/error.h"

namespace opbench {

ChannelView channel_view(std::string_view op, std::string_view input, const TensorDesc& desc) {
  const bool is_blocked = desc.format == Format::NC1HWC0;
  if (is_blocked ? desc.shape.size() != 4 : desc.shape.size() < 2) {
    throw Error(fmt::format("{}: '{}' has shape {}; allowed: [N, C, ...] with {} axes", op, input,
                            to_string(desc.shape), is_blocked ? "four" : "two or more"));
  }
  ChannelView view{desc.shape[0], desc.shape[1], 1};
  for (std::size_t i = 2; i < desc.shape.size(); ++i) view.inner *= desc.shape[i];
  return view;
}

void for_each_line(const InputReader& input, const ChannelView& view,
                   const std::function<void(std::int64_t, std::span<const double>)>& body) {
  // Reads some thousand elements at a time: a line of a fully connected layer has only one element.
  const std::int64_t image = view.channels * view.inner;
  const std::int64_t lines_at_once =
      view.inner == 0 ? 1 : std::max<std::int64_t>(1, 32768 / view.inner);
  std::vector<double> values(static_cast<std::size_t>(lines_at_once * view.inner));
  for (std::int64_t line = 0; image > 0 && line < view.outer * view.channels;) {
    const std::int64_t lines = std::min(lines_at_once, view.outer * view.channels - line);
    const std::span part(values.data(), static_cast<std::size_t>(lines * view.inner));
    input.read({line * view.inner, std::ssize(part)}, part);
    for (std::int64_t i = 0; i < lines; ++i, ++line) {
      body(line % view.channels, part.subspan(static_cast<std::size_t>(i * view.inner),
                                              static_cast<std::size_t>(view.inner)));
    }
  }
}

void require_per_channel(std::string_view op, std::string_view input, const TensorDesc& desc,
                         std::int64_t channels) {
  if (desc.shape == Dims{channels}) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}, one number for each channel", op,
                          input, to_string(desc.shape), channels));
}

}  // namespace opbench
