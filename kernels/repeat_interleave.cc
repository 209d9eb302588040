// Rows of an axis copied, and the sums of copies in fp32, row after row.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/index_at.h"
#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "ops/movement.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// The copies of each place: [starts[i], starts[i + 1]) of the longer axis.
struct Copies {
  AxisView view;  // of the longer tensor
  DType dtype, index;
  std::int64_t places = 0, copies;
  bool is_listed, is_one;
  std::vector<std::int64_t> starts;

  Copies(const Problem& problem, const TensorDesc& shorter, const TensorDesc& longer)
      : view(longer.shape, axis_of(problem.op->name, longer.shape, problem.attrs.integer("axis"))),
        dtype(longer.dtype),
        index(is_given(problem.inputs, 1) ? problem.inputs[1].dtype : DType::int64),
        copies(problem.attrs.integer("repeats")),
        is_listed(is_given(problem.inputs, 1)),
        is_one(is_listed && problem.inputs[1].elements() == 1) {
    places = shorter.shape[axis_of(problem.op->name, longer.shape, problem.attrs.integer("axis"))];
    starts.resize(static_cast<std::size_t>(places) + 1);
  }

  void find(const KernelArgs& args) {
    for (std::int64_t i = 0; i < places; ++i) {
      const std::int64_t at_place =
          is_listed ? index_at(index, args.inputs[1], is_one ? 0 : i) : copies;
      starts.data()[i + 1] = starts.data()[i] + at_place;
    }
  }

  // Calls body(first element of the row of x, first element of its copies, number of copies).
  template <class Body>
  void for_each(Body body) const {
    if (view.inner == 0) return;  // any number of copies of nothing
    parallel_blocks(view.outer * places, [&](std::int64_t row) {
      const std::int64_t place = row % places, first = starts.data()[place];
      const std::int64_t from = row / places * view.extent + first;
      body(row * view.inner, from * view.inner, starts.data()[place + 1] - first);
    });
  }
};

Launch repeat(const Problem& problem) {
  return [of = Copies(problem, problem.inputs[0], problem.outputs[0])](
             const KernelArgs& args) mutable {
    of.find(args);
    const auto size = static_cast<std::int64_t>(size_of(of.dtype)), row = size * of.view.inner;
    of.for_each([&](std::int64_t x, std::int64_t y, std::int64_t count) {
      const auto* const from = static_cast<const std::byte*>(args.inputs[0]) + x * size;
      auto* const to = static_cast<std::byte*>(args.outputs[0]) + y * size;
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * row, from, static_cast<std::size_t>(row));
      }
    });
  };
}

Launch add_copies(const Problem& problem) {
  return [of = Copies(problem, problem.outputs[0], problem.inputs[0])](
             const KernelArgs& args) mutable {
    of.find(args);
    of.for_each([&](std::int64_t x, std::int64_t y, std::int64_t count) {
      constexpr std::int64_t kTile = 256;
      const std::int64_t inner = of.view.inner;
      for (std::int64_t done = 0; done < inner; done += kTile) {
        const std::int64_t width = std::min(kTile, inner - done);
        float sums[kTile] = {}, dy[kTile];
        for (std::int64_t i = 0; i < count; ++i) {
          load_floats(of.dtype, at(args.inputs[0], of.dtype, y + i * inner + done), width, dy);
          for (std::int64_t c = 0; c < width; ++c) sums[c] += dy[c];
        }
        store_floats(of.dtype, sums, width, at(args.outputs[0], of.dtype, x + done));
      }
    });
  };
}

const RegisteredKernel native{{
    .op = "repeat_interleave",
    .name = "native",
    .provider = Provider::framework,
    .summary = "row after row copied",
    .prepare = repeat,
}};

const RegisteredKernel native_grad{{
    .op = "repeat_interleave_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "row after row, its copies added in fp32",
    .prepare = add_copies,
}};

}  // namespace
}  // namespace opbench
