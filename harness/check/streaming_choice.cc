#include "harness/check/streaming_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace opbench::check {
namespace {

// An older build, 0, cannot be asked.
bool agree(std::size_t base, std::size_t current) {
  return base == 0 || current == 0 || std::max(base, current) <= 2 * std::min(base, current);
}

std::size_t median_of_three(Peer& peer) {
  std::array<std::size_t, 3> bytes{};
  for (std::size_t& each : bytes) {
    peer.restart();
    each = peer.streams_from();
  }
  std::sort(bytes.begin(), bytes.end());
  return bytes[1];
}

}  // namespace

std::string agree_on_streaming(Peer& base, Peer& null, Peer& current) {
  std::size_t of_base = base.streams_from(), of_current = current.streams_from();
  if (!agree(of_base, of_current)) {
    of_base = median_of_three(base);
    of_current = median_of_three(current);
  }
  if (of_current == 0) return "";
  const bool is_same = agree(of_base, of_current);
  current.stream_from(of_current);
  for (Peer* peer : {&base, &null}) peer->stream_from(is_same ? of_current : of_base);
  if (is_same) return "";
  constexpr double kMiB = 1 << 20;
  return fmt::format(
      "results go past the caches from {:.1f} MiB on, in the other build from {:.1f} MiB: each "
      "chooses by itself, and that is compared as well",
      static_cast<double>(of_current) / kMiB, static_cast<double>(of_base) / kMiB);
}

}  // namespace opbench::check
