#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/line_writer.cc"
#include "kernels/line_writer.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using State = LineWriter::State;
using Bytes = hn::CappedTag<std::uint8_t, LineWriter::kLine>;
constexpr std::size_t kLine = LineWriter::kLine;

const std::uint8_t* bytes_at(const std::byte* p) {
  return reinterpret_cast<const std::uint8_t*>(p);
}
std::uint8_t* bytes_at(std::byte* p) { return reinterpret_cast<std::uint8_t*>(p); }

// One line from anywhere to an aligned place, past the cache.
HWY_INLINE void stream_line(const std::byte* from, std::byte* to) {
  const Bytes d;
  for (std::size_t i = 0; i < kLine; i += hn::Lanes(d)) {
    hn::Stream(hn::LoadU(d, bytes_at(from) + i), d, bytes_at(to) + i);
  }
}

HWY_INLINE void stream_lines(const std::byte*& from, std::size_t& count, std::byte*& out) {
  for (; count >= kLine; count -= kLine, from += kLine, out += kLine) stream_line(from, out);
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86

// The line that is being put together stays in a register: a row's first bytes are loaded from as
// far in front of it as the line is filled, with the lanes before it masked off, so that they come
// to lie where they belong. Masked lanes are not accessed.
class Assembler {
 public:
  explicit Assembler(State& state)
      : state_(state), line_(hn::Load(Bytes(), bytes_at(state.pending))) {}
  ~Assembler() { hn::Store(line_, Bytes(), bytes_at(state_.pending)); }

  HWY_INLINE void append(const std::byte* from, std::size_t count) {
    const Bytes d;
    const std::size_t filled = state_.filled;
    if (filled > 0) {
      const auto* shifted =
          reinterpret_cast<const std::uint8_t*>(reinterpret_cast<std::uintptr_t>(from) - filled);
      const std::size_t end = std::min(filled + count, kLine);
      const auto lanes = hn::AndNot(hn::FirstN(d, filled), hn::FirstN(d, end));
      line_ = hn::Or(line_, hn::MaskedLoad(lanes, d, shifted));
      from += end - filled;
      count -= end - filled;
      state_.filled = end;
      if (end < kLine) return;
      hn::Stream(line_, d, bytes_at(state_.out));
      state_.out += kLine;
    }
    stream_lines(from, count, state_.out);
    line_ = hn::MaskedLoad(hn::FirstN(d, count), d, bytes_at(from));
    state_.filled = count;
  }

 private:
  State& state_;
  hn::Vec<Bytes> line_;
};

#else

class Assembler {
 public:
  explicit Assembler(State& state) : state_(state) {}

  void append(const std::byte* from, std::size_t count) {
    if (state_.filled > 0) {
      const std::size_t taken = std::min(kLine - state_.filled, count);
      std::memcpy(state_.pending + state_.filled, from, taken);
      state_.filled += taken;
      from += taken;
      count -= taken;
      if (state_.filled < kLine) return;
      stream_line(state_.pending, state_.out);
      state_.out += kLine;
    }
    stream_lines(from, count, state_.out);
    std::memcpy(state_.pending, from, count);
    state_.filled = count;
  }

 private:
  State& state_;
};

#endif

}  // namespace

void stream_rows(LineWriter::State& state, const Row* rows, std::size_t count) {
  Assembler assembler(state);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + 2 < count) hwy::Prefetch(rows[i + 2].from);
    const std::byte* from = rows[i].from;
    std::size_t bytes = rows[i].bytes;
    if (state.head > 0) {
      const std::size_t taken = std::min(state.head, bytes);
      std::memcpy(state.out, from, taken);
      state.out += taken;
      state.head -= taken;
      from += taken;
      bytes -= taken;
    }
    if (bytes > 0) assembler.append(from, bytes);
  }
}

// Plain stores. Rows of at least a vector end with one that overlaps the one before.
void store_rows(LineWriter::State& state, const Row* rows, std::size_t count) {
  const Bytes d;
  const std::size_t lanes = hn::Lanes(d);
  std::byte* out = state.out;
  for (std::size_t r = 0; r < count; ++r) {
    const auto [from, bytes] = rows[r];
    if (bytes < lanes) {
      std::memcpy(out, from, bytes);
    } else {
      for (std::size_t i = 0; i + lanes < bytes; i += lanes) {
        hn::StoreU(hn::LoadU(d, bytes_at(from) + i), d, bytes_at(out) + i);
      }
      const std::size_t last = bytes - lanes;
      hn::StoreU(hn::LoadU(d, bytes_at(from) + last), d, bytes_at(out) + last);
    }
    out += bytes;
  }
  state.out = out;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(stream_rows);
HWY_EXPORT(store_rows);

LineWriter::LineWriter(void* out, bool stream) : stream_(stream) {
  state_.out = static_cast<std::byte*>(out);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(out) % kLine;
  state_.head = stream && past > 0 ? kLine - past : 0;
}

void LineWriter::append(std::span<const Row> rows) {
  if (stream_)
    HWY_DYNAMIC_DISPATCH(stream_rows)(state_, rows.data(), rows.size());
  else
    HWY_DYNAMIC_DISPATCH(store_rows)(state_, rows.data(), rows.size());
}

void LineWriter::finish() {
  if (!stream_) return;
  std::memcpy(state_.out, state_.pending, state_.filled);
  state_.out += state_.filled;
  state_.filled = 0;
  hwy::FlushStream();
}

}  // namespace opbench
#endif  // HWY_ONCE
