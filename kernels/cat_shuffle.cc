// The two rewrites of concat, channel shuffle and chunk that tuned networks use. `full`: one
// index_select by fp_index. `half`: an index_select for each half, which spares chunk's copies.
#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/kernel.h"
#include "ops/shuffle.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kGrainBytes = 64 * 1024;  // worth waking a thread for

/// A tensor of shape (N, C, ...) as N rows of C channels of so many bytes.
struct Channels {
  std::int64_t rows, channels;
  std::size_t bytes;

  explicit Channels(const TensorDesc& desc) {
    const AxisView view(desc.shape, 1);
    rows = view.outer;
    channels = view.extent;
    bytes = static_cast<std::size_t>(view.inner) * size_of(desc.dtype);
  }
  std::int64_t grain(std::int64_t channels_per_step) const {
    const auto step = static_cast<std::int64_t>(bytes) * channels_per_step;
    return kGrainBytes / std::max<std::int64_t>(1, step) + 1;
  }
};

/// concat(a, b) along the channels; `half` describes either.
void concat(const Channels& half, const void* a, const void* b, void* joined) {
  const std::size_t bytes = static_cast<std::size_t>(half.channels) * half.bytes;
  parallel_ranges(
      half.rows, half.grain(2 * half.channels), [=](std::int64_t begin, std::int64_t end) {
        for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end);
             ++row) {
          std::byte* to = static_cast<std::byte*>(joined) + 2 * row * bytes;
          std::memcpy(to, static_cast<const std::byte*>(a) + row * bytes, bytes);
          std::memcpy(to + bytes, static_cast<const std::byte*>(b) + row * bytes, bytes);
        }
      });
}

/// y[:, i] = x[:, index[i]]
void index_select(const Channels& x, std::span<const std::int64_t> index, const void* from,
                  void* to) {
  const std::int64_t count = std::ssize(index);
  parallel_ranges(x.rows * count, x.grain(1), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t source =
          i / count * x.channels + index[static_cast<std::size_t>(i % count)];
      std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(i) * x.bytes,
                  static_cast<const std::byte*>(from) + static_cast<std::size_t>(source) * x.bytes,
                  x.bytes);
    }
  });
}

TensorDesc twice(TensorDesc half) {
  half.shape[1] *= 2;
  return half;
}

/// concat into a temporary, then an index_select for every output with its share of the index.
Launch concat_then_select(const Problem& problem, std::vector<std::int64_t> index) {
  const Channels half(problem.inputs[0]);
  const auto joined = std::make_shared<Tensor>(twice(problem.inputs[0]));
  return [half, joined, whole = Channels(joined->desc), index = std::move(index),
          parts = problem.outputs.size()](const KernelArgs& args) {
    concat(half, args.inputs[0], args.inputs[1], joined->data());
    const std::span<const std::int64_t> all(index);
    const std::size_t share = all.size() / parts;
    for (std::size_t i = 0; i < parts; ++i) {
      index_select(whole, all.subspan(i * share, share), joined->data(), args.outputs[i]);
    }
  };
}

std::size_t joined_bytes(const Problem& problem) { return twice(problem.inputs[0]).bytes(); }

Launch forward(const Problem& problem) {
  return concat_then_select(
      problem, fp_index(2 * problem.inputs[0].shape[1], problem.attrs.integer("groups")));
}

Launch half_grad(const Problem& problem) {
  return concat_then_select(
      problem, inverse_fp_index(2 * problem.inputs[0].shape[1], problem.attrs.integer("groups")));
}

// For two groups: the even channels, then the odd ones.
Launch full_grad(const Problem& problem) {
  const Channels whole(problem.inputs[0]);
  return [whole, index = inverse_fp_index(whole.channels, problem.attrs.integer("groups"))](
             const KernelArgs& args) {
    const std::span<const std::int64_t> all(index);
    const std::size_t half = all.size() / 2;
    index_select(whole, all.first(half), args.inputs[0], args.outputs[0]);
    index_select(whole, all.last(half), args.inputs[0], args.outputs[1]);
  };
}

const RegisteredKernel full{{
    .op = "cat_shuffle",
    .name = "full",
    .provider = Provider::npu,
    .summary = "concat, then one index_select by fp_index",
    .prepare = forward,
    .temporary_bytes = joined_bytes,
}};

const RegisteredKernel full_backward{{
    .op = "cat_shuffle_grad",
    .name = "full",
    .provider = Provider::npu,
    .summary = "an index_select for each half, by the inverse of fp_index",
    .prepare = full_grad,
}};

const RegisteredKernel half{{
    .op = "cat_shuffle_split",
    .name = "half",
    .provider = Provider::npu,
    .summary = "concat, then an index_select by each half of fp_index",
    .prepare = forward,
    .temporary_bytes = joined_bytes,
}};

const RegisteredKernel half_backward{{
    .op = "cat_shuffle_split_grad",
    .name = "half",
    .provider = Provider::npu,
    .summary = "concat, then an index_select by each half of fp_index' inverse",
    .prepare = half_grad,
    .temporary_bytes = joined_bytes,
}};

}  // namespace
}  // namespace opbench
