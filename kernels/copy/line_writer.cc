#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy/line_writer.cc"
#include "kernels/copy/line_writer.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
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

// Writes one line from any address to an aligned place, past the cache.
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

// The unfinished line stays in a register. The first bytes of a row are loaded from an address
// before the row, with the filled lanes masked off, so that they get their final place. Masked
// lanes are not accessed.
class Assembler {
 public:
  explicit HWY_INLINE Assembler(State& state)
      : state_(state),
        out_(state.out),
        filled_(state.filled),
        line_(hn::Load(Bytes(), bytes_at(state.pending))) {}
  HWY_INLINE ~Assembler() {
    hn::Store(line_, Bytes(), bytes_at(state_.pending));
    state_.out = out_;
    state_.filled = filled_;
  }

  HWY_INLINE void append(const std::byte* from, std::size_t count) {
    const Bytes d;
    if (filled_ > 0) {
      const auto* shifted =
          reinterpret_cast<const std::uint8_t*>(reinterpret_cast<std::uintptr_t>(from) - filled_);
      const std::size_t end = std::min(filled_ + count, kLine);
      const auto lanes = hn::AndNot(hn::FirstN(d, filled_), hn::FirstN(d, end));
      line_ = hn::Or(line_, hn::MaskedLoad(lanes, d, shifted));
      from += end - filled_;
      count -= end - filled_;
      filled_ = end;
      if (end < kLine) return;
      hn::Stream(line_, d, bytes_at(out_));
      out_ += kLine;
    }
    stream_lines(from, count, out_);
    line_ = hn::MaskedLoad(hn::FirstN(d, count), d, bytes_at(from));
    filled_ = count;
  }

 private:
  State& state_;
  std::byte* out_;
  std::size_t filled_;
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

namespace {

// Stores the bytes before the first line of an output plainly; returns the remainder of the row.
Row without_head(State& state, Row row) {
  const std::size_t taken = std::min(state.head, row.bytes);
  std::memcpy(state.out, row.from, taken);
  state.out += taken;
  state.head -= taken;
  return {row.from + taken, row.bytes - taken, row.writer};
}

// Prefetch distance for the start of short rows. The hardware prefetcher follows long rows.
constexpr std::size_t kAheadBytes = 2048, kFetchedBytes = 256;

HWY_INLINE void fetch(const Row& row) {
  for (std::size_t i = 0; i < std::min(row.bytes, kFetchedBytes); i += kLine) {
    hwy::Prefetch(row.from + i);
  }
}

}  // namespace

void stream_rows(LineWriter::State* const* states, const Row* rows, std::size_t count) {
  const std::size_t first_bytes = count == 0 ? 1 : std::max<std::size_t>(rows[0].bytes, 1);
  const std::size_t ahead = std::clamp<std::size_t>(kAheadBytes / first_bytes, 2, 32);
  for (std::size_t i = 0; i < count;) {
    const std::size_t writer = rows[i].writer;
    State& state = *states[writer];
    for (; state.head > 0 && i < count && rows[i].writer == writer; ++i) {
      const Row rest = without_head(state, rows[i]);
      if (rest.bytes > 0) Assembler(state).append(rest.from, rest.bytes);
    }
    Assembler assembler(state);
    for (; i < count && rows[i].writer == writer; ++i) {
      if (i + ahead < count) fetch(rows[i + ahead]);
      if (rows[i].bytes > 0) assembler.append(rows[i].from, rows[i].bytes);
    }
  }
}

// Plain stores. Rows of at least a vector end with a vector that overlaps the one before.
void store_rows(LineWriter::State* const* states, const Row* rows, std::size_t count) {
  const Bytes d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < count; ++r) {
    const auto [from, bytes, writer] = rows[r];
    std::byte*& out = states[writer]->out;
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

void LineWriter::append(std::span<LineWriter> writers, std::span<const Row> rows) {
  std::array<State*, kMostWriters> states;
  for (std::size_t i = 0; i < writers.size(); ++i) states[i] = &writers[i].state_;
  if (writers.front().stream_)
    HWY_DYNAMIC_DISPATCH(stream_rows)(states.data(), rows.data(), rows.size());
  else
    HWY_DYNAMIC_DISPATCH(store_rows)(states.data(), rows.data(), rows.size());
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
