// The two rewrites of concat, channel shuffle and chunk in tuned networks, and a fused pass.
// `full`: one index_select by fp_index. `half`: an index_select for each half, which saves the
// copies of chunk. `fused`: one pass that copies every channel from its input to its final place.
#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/copy/row_copy.h"
#include "kernels/kernel.h"
#include "kernels/simd/elementwise.h"
#include "ops/shuffle.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kGrainBytes = 64 * 1024;  // less does not repay waking a thread

/// A tensor of shape (N, C, ...) as N rows of C channels with equally many bytes.
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

/// concat(a, b) along the channels; `half` describes each of them.
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

/// concat into a temporary, then an index_select with a part of the index for every output.
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

// For two groups the index is the even channels, then the odd ones.
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

// Output channel i is input channel source[i]. Both numbers count through all tensors of a side.
Launch copy_channels(const Problem& problem, const std::vector<std::int64_t>& source) {
  const AxisView in(problem.inputs[0].shape, 1), out(problem.outputs[0].shape, 1);
  const std::int64_t row = in.inner * static_cast<std::int64_t>(size_of(problem.inputs[0].dtype));
  RowPlan plan{.outer = in.outer,
               .input_strides = std::vector<std::int64_t>(problem.inputs.size(), in.extent * row),
               .outputs = std::vector<std::vector<RowSource>>(problem.outputs.size())};
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto output = i / static_cast<std::size_t>(out.extent);
    plan.outputs[output].push_back(
        {static_cast<std::size_t>(source[i] / in.extent), source[i] % in.extent * row, row});
  }
  return copy_rows(std::move(plan), outgrows_cache(problem));
}

std::int64_t channels_of(const Problem& problem) {
  return problem.inputs[0].shape[1] * static_cast<std::int64_t>(problem.inputs.size());
}

Launch fused_forward(const Problem& problem) {
  return copy_channels(problem, fp_index(channels_of(problem), problem.attrs.integer("groups")));
}

Launch fused_backward(const Problem& problem) {
  return copy_channels(problem,
                       inverse_fp_index(channels_of(problem), problem.attrs.integer("groups")));
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

Kernel fused(std::string_view op, Launch (*prepare)(const Problem&), std::string_view summary) {
  return {
      .op = op, .name = "fused", .provider = Provider::npu, .summary = summary, .prepare = prepare};
}

constexpr std::string_view kForward = "one pass: every channel straight to its place, streamed";
constexpr std::string_view kBackward = "one pass: every channel straight back, streamed";

const RegisteredKernel kFused[] = {
    RegisteredKernel(fused("cat_shuffle", fused_forward, kForward)),
    RegisteredKernel(fused("cat_shuffle_split", fused_forward, kForward)),
    RegisteredKernel(fused("cat_shuffle_grad", fused_backward, kBackward)),
    RegisteredKernel(fused("cat_shuffle_split_grad", fused_backward, kBackward)),
};

}  // namespace
}  // namespace opbench
