// Rows of keys and values copied into and out of caches.
#include "ops/kv_cache.h"

#include <algorithm>
#include <cstring>

#include "kernels/index_at.h"
#include "kernels/kernel.h"
#include "ops/movement.h"
#include "tensor/dtype.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kGrainBytes = 64 << 10;  // less does not repay waking a thread

void copy_all(const void* from, void* to, std::size_t bytes) {
  parallel_ranges(static_cast<std::int64_t>(bytes), kGrainBytes,
                  [&](std::int64_t begin, std::int64_t end) {
                    std::memcpy(static_cast<std::byte*>(to) + begin,
                                static_cast<const std::byte*>(from) + begin,
                                static_cast<std::size_t>(end - begin));
                  });
}

/// Calls body(i) for `count` rows of `bytes` each.
template <class Body>
void for_each_row(std::int64_t count, std::int64_t bytes, Body body) {
  parallel_ranges(count, kGrainBytes / (bytes + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

struct Copied {
  DType dtype;
  void operator()(const void* from, std::int64_t first, void* to, std::int64_t place,
                  std::int64_t count) const {
    std::memcpy(at(to, dtype, place), at(from, dtype, first),
                static_cast<std::size_t>(count) * size_of(dtype));
  }
};

Launch store(const Problem& problem) {
  return [stores = std::array{PagedStore(problem.inputs, 0, problem.attrs),
                              PagedStore(problem.inputs, 1, problem.attrs)},
          bytes = std::array{problem.outputs[0].bytes(), problem.outputs[1].bytes()},
          tokens = problem.inputs[4].elements(), index = problem.inputs[4].dtype,
          copy = Copied{problem.inputs[0].dtype}](const KernelArgs& args) {
    for (std::size_t i = 0; i < 2; ++i) {
      copy_all(args.inputs[i + 2], args.outputs[i], bytes[i]);
      const PagedStore& to = stores[i];
      const std::int64_t row = to.row * static_cast<std::int64_t>(size_of(copy.dtype));
      for_each_row(tokens, row, [&](std::int64_t token) {
        const std::int64_t slot = index_at(index, args.inputs[4], token);
        for (std::int64_t part = 0; slot >= 0 && part < to.parts; ++part) {
          copy(args.inputs[i], token * to.row + part * to.run(), args.outputs[i],
               to.element_of(slot, part), to.run());
        }
      });
    }
  };
}

/// The sizes of gather_pa_kv_cache.
struct Fetch {
  std::int64_t sequences, blocks, block_size, tokens;
  std::int64_t rows[2];  // elements
  DType table, lengths, offsets;
  bool is_total, has_offsets;
  Copied copy;

  explicit Fetch(const Problem& problem)
      : sequences(problem.inputs[2].shape[0]),
        blocks(problem.inputs[2].shape[1]),
        block_size(problem.inputs[0].shape[1]),
        tokens(problem.inputs[4].shape[0]),
        rows{row_of(problem, 4), row_of(problem, 5)},
        table(problem.inputs[2].dtype),
        lengths(problem.inputs[3].dtype),
        offsets(problem.inputs.size() > 6 ? problem.inputs[6].dtype : lengths),
        is_total(problem.attrs.flag("is_seq_lens_cumsum")),
        has_offsets(is_given(problem.inputs, 6)),
        copy{problem.inputs[0].dtype} {}

  static std::int64_t row_of(const Problem& problem, std::size_t i) {
    const Dims& shape = problem.inputs[i].shape;
    return shape[0] == 0 ? 0 : problem.inputs[i].elements() / shape[0];
  }

  // Rows `first` to `first + count` of the outputs.
  void sequence(const KernelArgs& args, std::int64_t b, std::int64_t first,
                std::int64_t count) const {
    const std::int64_t offset = has_offsets ? index_at(offsets, args.inputs[6], b) : 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t row = rows[i] * static_cast<std::int64_t>(size_of(copy.dtype));
      for_each_row(count, row, [&](std::int64_t token) {
        const std::int64_t place = offset + token;
        const std::int64_t block = index_at(table, args.inputs[2], b * blocks + place / block_size);
        const std::int64_t slot = block * block_size + place % block_size;
        copy(args.inputs[i], slot * rows[i], args.outputs[i], (first + token) * rows[i], rows[i]);
      });
    }
  }

  void operator()(const KernelArgs& args) const {
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < sequences; ++b) {
      std::int64_t count = index_at(lengths, args.inputs[3], is_total ? b + 1 : b);
      if (is_total) count -= index_at(lengths, args.inputs[3], b);
      sequence(args, b, done, count);
      done += count;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      copy(args.inputs[i + 4], done * rows[i], args.outputs[i], done * rows[i],
           (tokens - done) * rows[i]);
    }
  }
};

Launch write(const Problem& problem) {
  const Dims& self = problem.inputs[0].shape;
  const std::size_t axis = axis_of("npu_scatter", self, problem.attrs.integer("dim"));
  const AxisView to(self, axis), from(problem.inputs[2].shape, axis);
  return [=, bytes = problem.outputs[0].bytes(), index = problem.inputs[1].dtype,
          each = self[0] == 0 ? 1 : to.outer / self[0],
          copy = Copied{problem.inputs[0].dtype}](const KernelArgs& args) {
    copy_all(args.inputs[0], args.outputs[0], bytes);
    const std::int64_t row = from.extent * from.inner;
    for_each_row(to.outer, row * static_cast<std::int64_t>(size_of(copy.dtype)),
                 [&](std::int64_t outer) {
                   const std::int64_t place = index_at(index, args.inputs[1], outer / each);
                   copy(args.inputs[2], outer * row, args.outputs[0],
                        (outer * to.extent + place) * to.inner, row);
                 });
  };
}

const RegisteredKernel native_store{{
    .op = "scatter_pa_kv_cache",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a copy of each cache, then one row for each token",
    .prepare = store,
}};

const RegisteredKernel native_fetch{{
    .op = "gather_pa_kv_cache",
    .name = "native",
    .provider = Provider::framework,
    .summary = "sequence after sequence, one row for each token",
    .prepare = [](const Problem& problem) -> Launch { return Fetch(problem); },
}};

const RegisteredKernel native_write{{
    .op = "npu_scatter",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a copy, then the rows of the updates",
    .prepare = write,
}};

}  // namespace
}  // namespace opbench
