#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/copy/strided_ways.h"
#include "tensor/dtype.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kGrainBytes = 64 << 10;  // worth waking a thread for
constexpr std::int64_t kStageBytes = 16 << 10;  // stays in the first-level cache

// Every kStride-th element, or every `stride`-th where kStride is 0: compilers make shuffles of
// small ones that they know.
template <std::int64_t kStride, class T>
void copy_every(std::int64_t stride, std::int64_t count, const T* __restrict from,
                T* __restrict to) {
  if constexpr (kStride != 0) stride = kStride;
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

template <class T>
void copy_strided(const StridedLoop& run, const T* from, T* to) {
  if (run.from_stride == 0) {
    std::fill_n(to, run.valid, *from);
  } else if (run.from_stride == 2) {
    copy_every<2>(2, run.valid, from, to);
  } else {
    copy_every<0>(run.from_stride, run.valid, from, to);
  }
  std::fill_n(to + run.valid, run.extent - run.valid, T{0});
}

/// No neighbours in the input: one element after the other, gathered in a stage.
class Elements final : public StridedCopy::Way {
 public:
  Elements(Loops outer, StridedLoop run, std::int64_t bytes, bool stream)
      : outer_(std::move(outer)), run_(run), bytes_(bytes), stream_(stream) {}

  void run(const std::byte* from, std::byte* to) const override {
    const std::int64_t row_bytes = run_.extent * bytes_;
    const bool is_staged = stream_ && row_bytes <= kStageBytes;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / row_bytes);
    parallel_ranges(count_of(outer_), grain, [&](std::int64_t begin, std::int64_t end) {
      thread_local std::vector<std::byte> stage;
      if (is_staged) stage.resize(static_cast<std::size_t>(row_bytes));
      Odometer at(outer_, begin);
      Joiner joiner(true);
      for (std::int64_t row = begin; row < end; ++row, at.next()) {
        std::byte* const out = to + at.to() * bytes_;
        copy(from + at.from() * bytes_, is_staged ? stage.data() : out);
        if (!is_staged) continue;
        joiner.add(stage.data(), row_bytes, out);
        joiner.flush();
      }
    });
  }

 private:
  void copy(const std::byte* from, std::byte* to) const {
    visit_width(static_cast<std::size_t>(bytes_), [&]<class T>(T) {
      copy_strided(run_, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
    });
  }

  Loops outer_;
  StridedLoop run_;
  std::int64_t bytes_;
  bool stream_;
};

}  // namespace

std::unique_ptr<StridedCopy::Way> copy_elements(Loops outer, const StridedLoop& run,
                                                std::int64_t bytes, bool stream) {
  return std::make_unique<Elements>(std::move(outer), run, bytes, stream);
}

}  // namespace opbench
