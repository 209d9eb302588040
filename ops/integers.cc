#include "ops/integers.h"

#include <algorithm>
#include <cstring>

#include "ops/cast.h"

namespace opbench {

void widen_integers(DType dtype, const void* from, std::span<std::int64_t> to) {
  visit_integer(
      dtype, [&]<class T>(T) { std::copy_n(static_cast<const T*>(from), to.size(), to.begin()); });
}

// The low bytes. All hosts of NPUs are little-endian.
void wrap_integers(std::span<const std::int64_t> from, DType dtype, void* to) {
  const std::size_t bytes = size_of(dtype);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t value = dtype == DType::int4 ? low_four_bits(from[i]) : from[i];
    std::memcpy(static_cast<std::byte*>(to) + i * bytes, &value, bytes);
  }
}

void read_broadcast_integers(const InputReader& x, const BroadcastView& view, ElementRange range,
                             std::span<std::int64_t> to) {
  thread_local std::vector<std::byte> bits;
  const DType dtype = x.desc().dtype;
  view.for_each_run(range, [&](const BroadcastRun& run, std::int64_t place) {
    const auto part =
        to.subspan(static_cast<std::size_t>(place), static_cast<std::size_t>(run.count));
    const auto read = part.first(run.step == 0 ? 1 : part.size());
    bits.resize(read.size() * size_of(dtype));
    x.read_bits({run.first, std::ssize(read)}, bits.data());
    widen_integers(dtype, bits.data(), read);
    if (run.step == 0) std::fill(part.begin() + 1, part.end(), part[0]);
  });
}

}  // namespace opbench
