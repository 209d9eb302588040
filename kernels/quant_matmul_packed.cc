// quant_batch_matmul_v3 with packed factors and exact sums in tiles.
#include <algorithm>
#include <cstddef>
#include <memory>

#include "kernels/quant_matmul.h"
#include "kernels/simd/integer_product.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTileRows = 48;

std::int64_t floats_of(std::int64_t bytes) { return (bytes + 3) / 4; }

/// The parts of the result that threads compute: each packs its panels of columns itself.
struct IntegerParts {
  MatMulShape shape;
  std::int64_t panels, across, down;

  explicit IntegerParts(const MatMulShape& s)
      : shape(s), panels((s.n + kIntegerPanel - 1) / kIntegerPanel) {
    const std::int64_t threads = thread_count(), tiles = (s.m + kTileRows - 1) / kTileRows;
    across = std::min(panels, threads);
    down = std::clamp<std::int64_t>(threads / std::max<std::int64_t>(1, across), 1,
                                    std::max<std::int64_t>(1, tiles));
  }
  std::int64_t count() const { return across * down; }
};

/// The packed factors: all rows of the first one, and a panel of the second for each part.
struct IntegerFactors {
  QuantEpilogue epilogue;
  IntegerParts parts;
  Scratch left, sums, right;

  // The widest form. The instruction set in use selects the form.
  static std::int64_t row_bytes(const MatMulShape& s) {
    return IntegerLayout{IntegerForm::pairs, s.k}.row_bytes();
  }
  static std::int64_t panel_bytes(const MatMulShape& s) {
    return IntegerLayout{IntegerForm::pairs, s.k}.panel_bytes();
  }

  explicit IntegerFactors(const Problem& problem)
      : epilogue(problem),
        parts(epilogue.shape),
        left(floats_of(epilogue.shape.m * row_bytes(epilogue.shape))),
        sums(epilogue.shape.m),
        right(floats_of(parts.count() * panel_bytes(epilogue.shape))) {}

  std::int32_t* row_sums() const { return reinterpret_cast<std::int32_t*>(sums.data()); }

  void pack_rows(const IntegerLayout& layout, const std::int8_t* x1) const {
    const MatMulShape& s = epilogue.shape;
    const std::int64_t step = s.transpose_a ? s.m : 1, next = s.transpose_a ? 1 : s.k;
    auto* const rows = reinterpret_cast<std::byte*>(left.data());
    parallel_blocks(s.m, [&](std::int64_t r) {
      row_sums()[r] = pack_integer_row(layout, x1 + r * next, step, rows + r * layout.row_bytes());
    });
  }

  void part(const KernelArgs& args, const IntegerLayout& layout, std::int64_t matrix,
            std::int64_t number) const {
    const MatMulShape& s = epilogue.shape;
    const std::int64_t step = s.transpose_b ? 1 : s.n, next = s.transpose_b ? s.k : 1;
    const auto* const x2 = static_cast<const std::int8_t*>(args.inputs[1]) + matrix * s.k * s.n;
    const auto* const rows = reinterpret_cast<const std::byte*>(left.data());
    auto* const panel = reinterpret_cast<std::byte*>(right.data()) + number * layout.panel_bytes();
    const std::int64_t across = number % parts.across, down = number / parts.across;
    const std::int64_t tiles = (s.m + kTileRows - 1) / kTileRows;
    for (std::int64_t p = across; p < parts.panels; p += parts.across) {
      const std::int64_t column = p * kIntegerPanel;
      const std::int64_t columns = std::min(kIntegerPanel, s.n - column);
      pack_integer_panel(layout, x2 + column * next, step, next, columns, panel);
      for (std::int64_t tile = down; tile < tiles; tile += parts.down) {
        const std::int64_t first = tile * kTileRows, count = std::min(kTileRows, s.m - first);
        std::int32_t numbers[kTileRows * kIntegerPanel];
        integer_product(layout, count, columns, rows + first * layout.row_bytes(),
                        row_sums() + first, panel, numbers);
        for (std::int64_t r = 0; r < count; ++r) {
          epilogue.integers(args, matrix * s.m + first + r, column, columns,
                            numbers + r * kIntegerPanel);
        }
      }
    }
  }

  void run(const KernelArgs& args) const {
    const MatMulShape& s = epilogue.shape;
    const IntegerLayout layout{integer_form(), s.k};
    epilogue.load(args);
    for (std::int64_t i = 0; i < s.batch; ++i) {
      pack_rows(layout, static_cast<const std::int8_t*>(args.inputs[0]) + i * s.m * s.k);
      parallel_blocks(parts.count(), [&](std::int64_t number) { part(args, layout, i, number); });
    }
  }
};

Launch prepare_packed(const Problem& problem) {
  return [factors = std::make_shared<const IntegerFactors>(problem)](const KernelArgs& args) {
    factors->run(args);
  };
}

std::string refuse_floats(const Problem& problem) {
  return is_floating(problem.inputs[0].dtype) ? "the packed product takes int8 and int4" : "";
}

std::size_t packed_bytes(const Problem& problem) {
  const MatMulShape s = quant_matmul_shape(problem.inputs, problem.attrs);
  return static_cast<std::size_t>(s.m * IntegerFactors::row_bytes(s) +
                                  IntegerParts(s).count() * IntegerFactors::panel_bytes(s));
}

const RegisteredKernel packed{{.op = "quant_batch_matmul_v3",
                               .name = "quant_batch_matmul_v3",
                               .provider = Provider::npu,
                               .summary =
                                   "QuantBatchMatmulV3: packed factors, tiles of 48 rows and 96 "
                                   "columns of exact sums",
                               .refusal = refuse_floats,
                               .prepare = prepare_packed,
                               .temporary_bytes = packed_bytes}};

}  // namespace
}  // namespace opbench
