// concat, channel shuffle and chunk as a network calls them, and their gradients by automatic
// differentiation: the shuffle's gradient adds into zeros by index.
#include <cstring>
#include <memory>

#include "kernels/copy/strided_copy.h"
#include "kernels/kernel.h"
#include "ops/shuffle.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// The two halves of the channels, and both together.
struct Halves {
  TensorDesc half, whole;

  explicit Halves(const TensorDesc& tensor_of_half) : half(tensor_of_half), whole(half) {
    whole.shape[1] *= 2;
  }
  std::vector<ElementCopy> concat() const {
    return {copy_into(half, whole, 1, 0), copy_into(half, whole, 1, half.shape[1])};
  }
  std::vector<ElementCopy> chunk() const {
    return {copy_out_of(whole, half, 1, 0), copy_out_of(whole, half, 1, half.shape[1])};
  }
};

ElementCopy shuffle(const TensorDesc& desc, std::int64_t groups) {
  const StridedView view = shuffled_view(desc.shape, groups);
  return copy_view(view, dense_view(view.shape), size_of(desc.dtype));
}

/// zeros.index_add_(1, index, source)
struct IndexAdd {
  AxisView view;
  std::vector<std::int64_t> index;
  std::size_t element_bytes;

  IndexAdd(const TensorDesc& desc, std::int64_t groups)
      : view(desc.shape, 1),
        index(fp_index(view.extent, groups)),
        element_bytes(size_of(desc.dtype)) {}

  // A permutation adds once to every zero. An integer addition preserves the bits; a floating 0 + x
  // would lose the sign of -0 and the payload of a NaN.
  template <class T>
  void add_planes(std::int64_t begin, std::int64_t end, const T* source, T* sum) const {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const std::int64_t channel = index[static_cast<std::size_t>(plane % view.extent)];
      const std::int64_t target = plane / view.extent * view.extent + channel;
      for (std::int64_t i = 0; i < view.inner; ++i) {
        sum[target * view.inner + i] += source[plane * view.inner + i];
      }
    }
  }
  void operator()(const void* source, void* sum) const {
    parallel_ranges(view.outer * view.extent, 1, [&](std::int64_t begin, std::int64_t end) {
      visit_width(element_bytes, [&](auto tag) {
        using T = decltype(tag);
        add_planes(begin, end, static_cast<const T*>(source), static_cast<T*>(sum));
      });
    });
  }
};

void zero(const Tensor& tensor) {
  parallel_ranges(static_cast<std::int64_t>(tensor.desc.bytes()), 64 * 1024,
                  [&](std::int64_t begin, std::int64_t end) {
                    std::memset(tensor.as<std::byte>() + begin, 0,
                                static_cast<std::size_t>(end - begin));
                  });
}

// kTensors halves, which the inputs together consist of.
template <std::size_t kTensors>
std::size_t wholes(const Problem& problem) {
  std::size_t bytes = 0;
  for (const TensorDesc& input : problem.inputs) bytes += input.bytes();
  return kTensors * bytes;
}

Launch cat_shuffle(const Problem& problem) {
  const Halves halves(problem.inputs[0]);
  const auto joined = std::make_shared<Tensor>(halves.whole);
  return
      [joined, concat = halves.concat(),
       shuffle = shuffle(halves.whole, problem.attrs.integer("groups"))](const KernelArgs& args) {
        for (std::size_t i = 0; i < 2; ++i) concat[i](args.inputs[i], joined->data());
        shuffle(joined->data(), args.outputs[0]);
      };
}

Launch cat_shuffle_split(const Problem& problem) {
  const Halves halves(problem.inputs[0]);
  const auto joined = std::make_shared<Tensor>(halves.whole);
  const auto shuffled = std::make_shared<Tensor>(halves.whole);
  return
      [joined, shuffled, concat = halves.concat(), chunk = halves.chunk(),
       shuffle = shuffle(halves.whole, problem.attrs.integer("groups"))](const KernelArgs& args) {
        for (std::size_t i = 0; i < 2; ++i) concat[i](args.inputs[i], joined->data());
        shuffle(joined->data(), shuffled->data());
        for (std::size_t i = 0; i < 2; ++i) chunk[i](shuffled->data(), args.outputs[i]);
      };
}

Launch cat_shuffle_grad(const Problem& problem) {
  const Halves halves(problem.outputs[0]);
  const auto sum = std::make_shared<Tensor>(halves.whole);
  return [sum, chunk = halves.chunk(),
          add = IndexAdd(halves.whole, problem.attrs.integer("groups"))](const KernelArgs& args) {
    zero(*sum);
    add(args.inputs[0], sum->data());
    for (std::size_t i = 0; i < 2; ++i) chunk[i](sum->data(), args.outputs[i]);
  };
}

Launch cat_shuffle_split_grad(const Problem& problem) {
  const Halves halves(problem.outputs[0]);
  const auto joined = std::make_shared<Tensor>(halves.whole);
  const auto sum = std::make_shared<Tensor>(halves.whole);
  return [joined, sum, concat = halves.concat(), chunk = halves.chunk(),
          add = IndexAdd(halves.whole, problem.attrs.integer("groups"))](const KernelArgs& args) {
    for (std::size_t i = 0; i < 2; ++i) concat[i](args.inputs[i], joined->data());
    zero(*sum);
    add(joined->data(), sum->data());
    for (std::size_t i = 0; i < 2; ++i) chunk[i](sum->data(), args.outputs[i]);
  };
}

const RegisteredKernel native{{
    .op = "cat_shuffle",
    .name = "native",
    .provider = Provider::framework,
    .summary = "concat, then a transposed view made contiguous",
    .prepare = cat_shuffle,
    .temporary_bytes = wholes<1>,
}};

const RegisteredKernel native_grad{{
    .op = "cat_shuffle_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "index_add into zeros, chunk, contiguous",
    .prepare = cat_shuffle_grad,
    .temporary_bytes = wholes<1>,
}};

const RegisteredKernel native_split{{
    .op = "cat_shuffle_split",
    .name = "native",
    .provider = Provider::framework,
    .summary = "concat, transposed view made contiguous, chunk, contiguous",
    .prepare = cat_shuffle_split,
    .temporary_bytes = wholes<2>,
}};

const RegisteredKernel native_split_grad{{
    .op = "cat_shuffle_split_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "concat, index_add into zeros, chunk, contiguous",
    .prepare = cat_shuffle_split_grad,
    .temporary_bytes = wholes<2>,
}};

}  // namespace
}  // namespace opbench
