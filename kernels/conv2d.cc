// Conv2D and Conv2DBackpropInput as the cube unit computes them: every tap of the kernel multiplies
// the places it meets by its slice of the weight, added up in fp32. Bands of rows are packed as
// cube operands that stay in a core's cache until all sums of their places are done.
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/conv2d_plan.h"
#include "kernels/lanes/conv2d_row.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// The rows that a band meets, packed, and where each row of the input lies.
struct Packed {
  std::vector<float> values, factors;
  std::vector<std::int64_t> slots;
  std::int64_t rows = 0;
};

struct CubeConv2d {
  CubePlan plan;
  DType bias_dtype;
  bool has_bias;
  std::vector<std::vector<ColumnTap>> column_taps;  // of every phase
  std::int64_t panel_shares;                        // threads that share the panels of a band
  // Each panel of the weight, if there are several bands; else it is packed when it is multiplied.
  bool packs_ahead;
  Scratch factors;

  CubeConv2d(const Problem& problem, bool backward)
      : plan(problem, backward),
        bias_dtype(problem.inputs.back().dtype),
        has_bias(problem.inputs.size() > 2),
        packs_ahead(plan.bands.count() > 1),
        factors(packs_ahead ? plan.factors() : 0) {
    const std::int64_t bands =
        std::max<std::int64_t>(1, plan.bands.count()) * plan.weight.fractal.blocks;
    panel_shares = std::clamp<std::int64_t>(thread_count() / bands, 1, plan.panels());
    for (const AxisPhase& phase : plan.axes.w.phases) {
      std::vector<ColumnTap>& taps = column_taps.emplace_back();
      for (const AxisTap& tap : phase.taps) {
        taps.push_back(
            {plan.rows.column_of(tap), tap.tap, plan.axes.w.begin(tap), plan.axes.w.end(tap)});
      }
    }
  }

  // The weight of a tap as [terms, sums of a panel].
  void pack_panel(const void* from, std::int64_t block, std::int64_t panel, std::int64_t tap,
                  float* to) const {
    const std::int64_t blocks = plan.panel_blocks(block, panel), terms = plan.terms(block);
    to += tap * terms * blocks * kCube;
    for (std::int64_t b = 0; b < blocks; ++b) {
      for (std::int64_t term = 0; term < terms; term += kCube) {
        load_factors(plan, from, {block, tap, term, (panel * kPanelBlocks + b) * kCube},
                     std::min(kCube, terms - term), blocks * kCube,
                     to + (term * blocks + b) * kCube);
      }
    }
  }

  // The rows of x that tap rows meet for place q of the first axis, and their rows of weights.
  void meet_rows(const AxisPhase& phase, std::int64_t q, const std::vector<std::int64_t>& slots,
                 std::vector<RowTap>& taps) const {
    taps.clear();
    for (const AxisTap& tap : phase.taps) {
      if (q < plan.axes.h.begin(tap) || q >= plan.axes.h.end(tap)) continue;
      const std::int64_t source = q * plan.axes.h.in_step + tap.offset;
      taps.push_back({slots[static_cast<std::size_t>(source)] * plan.rows.row_elements(),
                      tap.tap * plan.weight.conv.window.kernel.w});
    }
  }

  // Place q of the first axis and all of the second, from plane `plane` of y on.
  void compute_row(ConvRow row, const AxisPhase& phase, std::int64_t q,
                   const std::vector<std::int64_t>& slots, void* y, std::int64_t plane) const {
    thread_local std::vector<RowTap> taps;
    meet_rows(phase, q, slots, taps);
    row.rows = taps.data();
    row.row_count = static_cast<std::int64_t>(taps.size());
    const ConvAxis& w = plan.axes.w;
    row.y_step = w.out_step * kCube;
    const std::int64_t line = (phase.first + q * plan.axes.h.out_step) * plan.axes.out_w;
    for (std::size_t i = 0; i < w.phases.size(); ++i) {
      row.columns = column_taps[i].data();
      row.column_count = static_cast<std::int64_t>(column_taps[i].size());
      row.places = w.phases[i].count;
      for (std::int64_t b = 0; b < row.width / kCube; ++b) {
        row.y[b] =
            at(y, row.dtype, ((plane + b) * plan.out.inner + line + w.phases[i].first) * kCube);
      }
      convolve_row(row);
    }
  }

  void compute_panel(const KernelArgs& args, std::int64_t block, std::int64_t panel,
                     const ConvBand& band, const Packed& packed, const float* w) const {
    const std::int64_t base = plan.first_out(block) + panel * kPanelBlocks;
    float bias[kPanelBlocks * kCube] = {};
    ConvRow row{};
    row.w = w;
    row.plane = packed.rows * plan.rows.row_elements();
    row.channels = plan.terms(block);
    row.width = plan.panel_blocks(block, panel) * kCube;
    row.bias = bias;
    row.dtype = plan.out.dtype;
    for (std::int64_t b = 0; b < row.width / kCube; ++b) {
      row.used[b] = plan.out.used(base + b);
      if (!has_bias) continue;
      load_floats(bias_dtype, at(args.inputs[2], bias_dtype, (base + b) * kCube), row.used[b],
                  bias + b * kCube);
    }
    for (std::int64_t n = 0; n < band.images; ++n) {
      row.x = packed.values.data() + n * plan.term_blocks * row.plane;
      const std::int64_t plane = (band.first + n) * plan.out.planes + base;
      for (std::int64_t q = band.begin; q < band.end; ++q) {
        for (const AxisPhase& phase : plan.axes.h.phases) {
          if (q < phase.count) compute_row(row, phase, q, packed.slots, args.outputs[0], plane);
        }
      }
    }
  }

  // The panels of a share of a band; what it multiplies is packed first.
  void compute_band(const KernelArgs& args, std::int64_t block, const ConvBand& band,
                    std::int64_t share) const {
    thread_local Packed packed;
    packed.rows = plan.rows.choose_rows(band, packed.slots);
    packed.values.resize(static_cast<std::size_t>(plan.band_elements()));
    const std::int64_t base = plan.first_in(block);
    plan.rows.pack(args.inputs[0], band, base, (plan.terms(block) + kCube - 1) / kCube,
                   plan.term_blocks, packed.slots, packed.rows, packed.values.data());
    for (std::int64_t panel = share; panel < plan.panels(); panel += panel_shares) {
      if (plan.panel_blocks(block, panel) <= 0) continue;
      const float* w = factors.data() + (block * plan.panels() + panel) * plan.panel_factors();
      if (!packs_ahead) {
        packed.factors.resize(static_cast<std::size_t>(plan.panel_factors()));
        for (std::int64_t tap = 0; tap < plan.weight.conv.taps(); ++tap) {
          pack_panel(args.inputs[1], block, panel, tap, packed.factors.data());
        }
        w = packed.factors.data();
      }
      compute_panel(args, block, panel, band, packed, w);
    }
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t taps = plan.weight.conv.taps(), blocks = plan.weight.fractal.blocks;
    const std::int64_t panels = plan.panels();
    parallel_blocks(packs_ahead ? blocks * panels * taps : 0, [&](std::int64_t i) {
      pack_panel(args.inputs[1], i / taps / panels, i / taps % panels, i % taps,
                 factors.data() + i / taps * plan.panel_factors());
    });
    parallel_blocks(plan.bands.count() * blocks * panel_shares, [&](std::int64_t i) {
      const std::int64_t band = i / panel_shares / blocks;
      compute_band(args, i / panel_shares % blocks, plan.bands[band], i % panel_shares);
    });
  }
};

template <bool kBackward>
Launch prepare(const Problem& problem) {
  return [plan = std::make_shared<CubeConv2d>(problem, kBackward)](const KernelArgs& args) {
    (*plan)(args);
  };
}

template <bool kBackward>
std::size_t temporaries(const Problem& problem) {
  const CubePlan plan(problem, kBackward);
  return sizeof(float) *
         static_cast<std::size_t>(plan.factors() + thread_count() * plan.band_elements());
}

const RegisteredKernel conv2d{{
    .op = "conv2d",
    .name = "conv2d",
    .summary = "Conv2D: fp16 operands, fp32 sums over taps and channels; NC1HWC0 and FRACTAL_Z",
    .refusal = conv2d_refusal,
    .prepare = prepare<false>,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries<false>,
}};

const RegisteredKernel backprop_input{{
    .op = "conv2d_grad_input",
    .name = "conv2d_backprop_input",
    .family = "conv2d",
    .summary = "Conv2DBackpropInput: fp16 operands, fp32 sums over taps and outputs",
    .refusal = conv2d_refusal,
    .prepare = prepare<true>,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries<true>,
}};

}  // namespace
}  // namespace opbench
