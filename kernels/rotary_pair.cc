// Query and key rotated line by line, in two forms: rounded once like the device, or with the
// roundings of a composition.
#include "ops/rotary_pair.h"

#include <cstring>

#include "kernels/index_at.h"
#include "kernels/rope.h"
#include "kernels/simd/elementwise.h"

namespace opbench {
namespace {

enum class Rounds { once, each_step };

/// Rotates the first elements of lines and copies the others.
template <Rounds kRounds>
struct Rotation {
  RotaryMode mode;
  DType dtype;
  std::int64_t width, extent;
  std::vector<RotaryPlace> places;

  Rotation(RotaryMode of, DType type, std::int64_t line, std::int64_t rotated)
      : mode(of),
        dtype(type),
        width(line),
        extent(rotated),
        places(rotary_places(of, static_cast<std::size_t>(rotated))) {}

  void operator()(const void* x, const void* cos, const void* sin, void* y) const {
    const RotaryLine line{mode, dtype, extent, x, cos, sin, y};
    if (kRounds == Rounds::once) {
      rotate_line(line);
    } else {
      rotate_line_in_steps(line, places);
    }
    const auto rest = static_cast<std::size_t>(width - extent) * size_of(dtype);
    if (rest > 0) std::memcpy(at(y, dtype, extent), at(x, dtype, extent), rest);
  }
};

/// One of query and key.
template <Rounds kRounds>
struct Rotated {
  Rotation<kRounds> rotation;
  BroadcastView view;
  std::int64_t lines;

  Rotated(const Problem& problem, std::size_t i)
      : rotation(rotary_mode(problem.attrs), problem.inputs[i].dtype,
                 problem.inputs[i].shape.back(), problem.inputs[2].shape.back()),
        view(problem.inputs[2].shape, lines_of(problem, i)),
        lines(rotation.width == 0 ? 0 : problem.inputs[i].elements() / rotation.width) {}

  static Dims lines_of(const Problem& problem, std::size_t i) {
    Dims shape = problem.inputs[i].shape;
    shape.back() = problem.inputs[2].shape.back();
    return shape;
  }

  void run(const KernelArgs& args, std::size_t i) const {
    const DType dtype = rotation.dtype;
    constexpr std::int64_t kGrainElements = 16 * 1024;  // fewer do not repay waking a thread
    parallel_ranges(lines, kGrainElements / (rotation.width + 1) + 1,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t line = begin; line < end; ++line) {
                        const std::int64_t first = line * rotation.width,
                                           angle = view.run_at(line * rotation.extent).first;
                        rotation(at(args.inputs[i], dtype, first), at(args.inputs[2], dtype, angle),
                                 at(args.inputs[3], dtype, angle),
                                 at(args.outputs[i], dtype, first));
                      }
                    });
  }
};

template <Rounds kRounds>
Launch of_angles(const Problem& problem) {
  return [query = Rotated<kRounds>(problem, 0),
          key = Rotated<kRounds>(problem, 1)](const KernelArgs& args) {
    query.run(args, 0);
    key.run(args, 1);
  };
}

template <Rounds kRounds>
struct OfTable {
  RotaryTable of;
  Rotation<kRounds> rotation;
  std::int64_t query_heads, key_heads;
  DType index;

  explicit OfTable(const Problem& problem)
      : of(problem.inputs, problem.attrs),
        rotation(of.mode, problem.inputs[1].dtype, of.width, of.extent),
        query_heads(of.heads(problem.inputs[1].shape)),
        key_heads(of.heads(problem.inputs[2].shape)),
        index(problem.inputs[0].dtype) {}

  std::int64_t position(const KernelArgs& args, std::int64_t axis, std::int64_t token) const {
    return index_at(index, args.inputs[0], axis * of.tokens + token);
  }

  void token(const KernelArgs& args, std::int64_t token) const {
    const DType dtype = rotation.dtype;
    const std::size_t size = size_of(dtype);
    thread_local std::vector<std::byte> cos, sin;
    cos.resize(static_cast<std::size_t>(of.extent) * size);
    sin.resize(cos.size());
    for (std::int64_t i = 0; i < of.extent; ++i) {
      const std::int64_t pair = of.pair_of(i);
      const std::int64_t axis = of.axis_of_pair[static_cast<std::size_t>(pair)];
      const std::int64_t from = position(args, axis, token) * of.extent + pair;
      std::memcpy(at(cos.data(), dtype, i), at(args.inputs[3], dtype, from), size);
      std::memcpy(at(sin.data(), dtype, i), at(args.inputs[3], dtype, from + of.extent / 2), size);
    }
    const auto rotate_heads = [&](std::size_t which, std::int64_t heads) {
      for (std::int64_t head = 0; head < heads; ++head) {
        const std::int64_t first = (token * heads + head) * of.width;
        rotation(at(args.inputs[which + 1], dtype, first), cos.data(), sin.data(),
                 at(args.outputs[which], dtype, first));
      }
    };
    rotate_heads(0, query_heads);
    rotate_heads(1, key_heads);
  }

  void operator()(const KernelArgs& args) const {
    parallel_ranges(of.tokens, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) token(args, i);
    });
  }
};

template <Rounds kRounds>
Launch of_table(const Problem& problem) {
  return OfTable<kRounds>(problem);
}

const RegisteredKernel native{{
    .op = "apply_rotary_pos_emb",
    .name = "native",
    .provider = Provider::framework,
    .summary = "query, then key; both products and their sum rounded",
    .prepare = of_angles<Rounds::each_step>,
}};

const RegisteredKernel device{{
    .op = "apply_rotary_pos_emb",
    .name = "apply_rotary_pos_emb",
    .provider = Provider::npu,
    .summary = "ApplyRotaryPosEmb: in fp32, rounded once",
    .prepare = of_angles<Rounds::once>,
}};

const RegisteredKernel native_table{{
    .op = "mrope",
    .name = "native",
    .provider = Provider::framework,
    .summary = "the angles of each token, then its heads; both products and their sum rounded",
    .prepare = of_table<Rounds::each_step>,
}};

const RegisteredKernel device_table{{
    .op = "mrope",
    .name = "rope_with_sin_cos_cache",
    .provider = Provider::npu,
    .summary = "RopeWithSinCosCache: the angles of each token, then its heads in fp32, rounded "
               "once",
    .prepare = of_table<Rounds::once>,
}};

}  // namespace
}  // namespace opbench
