// Conv2D and Conv2DBackpropInput like the cube unit: every tap of the kernel multiplies its places
// by its part of the weight, and the products are added in fp32. Bands of rows are packed as cube
// operands. They stay in a core's cache until all sums of their places are complete.
#include <algorithm>
#include <memory>

#include "kernels/conv2d_one_place.h"
#include "kernels/conv2d_plan.h"
#include "kernels/simd/conv2d_plane.h"
#include "kernels/simd/scratch.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// The memory of a thread: the rows of a band and, unless all weights are packed ahead, a panel.
struct Packed {
  AlignedFloats rows, factors;
};

struct CubeConv2d {
  CubePlan plan;
  std::int64_t panel_shares;  // threads that share the panels of a band
  // True for several bands: each panel of the weight is packed ahead. Otherwise it is packed when
  // it is multiplied.
  bool packs_ahead;
  Scratch factors;

  CubeConv2d(const Problem& problem, bool backward)
      : plan(problem, backward),
        packs_ahead(plan.rows.bands().count() > 1),
        factors(packs_ahead ? plan.factors() : 0) {
    // With few bands of all images, the last has fewer images than the others.
    const std::int64_t bands =
        plan.shares_panels()
            ? 1
            : std::max<std::int64_t>(1, plan.rows.bands().count()) * plan.weight.fractal.blocks;
    panel_shares = std::clamp<std::int64_t>(thread_count() / bands, 1, plan.panels());
  }

  void compute_panel(const KernelArgs& args, std::int64_t block, std::int64_t panel,
                     const ConvBand& band, const float* x, const float* w) const {
    const std::int64_t base = plan.first_out(block) + panel * kPanelBlocks;
    float bias[kPanelBlocks * kCube];
    ConvImage image = plan.axes.image(plan.rows, band, plan.out.dtype);
    plan.set_panel(args, block, panel, bias, image);
    image.w = w;
    for (std::int64_t n = 0; n < band.images; ++n) {
      image.x = x + n * plan.term_blocks * plan.rows.plane_elements();
      for (std::int64_t b = 0; b < image.width / kCube; ++b) {
        const std::int64_t plane = (band.first + n) * plan.out.planes + base + b;
        image.y[b] = plan.out.address(args.outputs[0], plane);
      }
      convolve(image);
    }
  }

  // The place of a tap's weight among those of a panel.
  std::int64_t tap_factors(std::int64_t block, std::int64_t panel, std::int64_t tap) const {
    return tap * plan.terms(block) * plan.panel_blocks(block, panel) * kCube;
  }

  // Computes the panels of a share of a band; packs their operands first.
  void compute_band(const KernelArgs& args, std::int64_t block, const ConvBand& band,
                    std::int64_t share) const {
    thread_local Packed packed;
    packed.rows.resize(plan.rows.band_elements());
    plan.rows.pack(args.inputs[0], band, plan.first_in(block),
                   (plan.terms(block) + kCube - 1) / kCube, packed.rows.data());
    for (std::int64_t panel = share; panel < plan.panels(); panel += panel_shares) {
      if (plan.panel_blocks(block, panel) <= 0) continue;
      const float* w = factors.data() + (block * plan.panels() + panel) * plan.panel_factors();
      if (!packs_ahead) {
        packed.factors.resize(plan.panel_factors());
        for (std::int64_t tap = 0; tap < plan.weight.conv.taps(); ++tap) {
          plan.pack_panel(args.inputs[1], block, panel, tap,
                          packed.factors.data() + tap_factors(block, panel, tap));
        }
        w = packed.factors.data();
      }
      compute_panel(args, block, panel, band, packed.rows.data(), w);
    }
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t taps = plan.weight.conv.taps(), blocks = plan.weight.fractal.blocks;
    const std::int64_t panels = plan.panels();
    parallel_blocks(packs_ahead ? blocks * panels * taps : 0, [&](std::int64_t i) {
      const std::int64_t block = i / taps / panels, panel = i / taps % panels, tap = i % taps;
      if (plan.panel_blocks(block, panel) <= 0) return;
      plan.pack_panel(
          args.inputs[1], block, panel, tap,
          factors.data() + i / taps * plan.panel_factors() + tap_factors(block, panel, tap));
    });
    parallel_blocks(plan.rows.bands().count() * blocks * panel_shares, [&](std::int64_t i) {
      const std::int64_t band = i / panel_shares / blocks;
      compute_band(args, i / panel_shares % blocks, plan.rows.bands()[band], i % panel_shares);
    });
  }
};

template <bool kBackward>
Launch prepare(const Problem& problem) {
  if (OnePlaceConv2d::takes(problem)) {
    return [plan = std::make_shared<OnePlaceConv2d>(problem, kBackward)](const KernelArgs& args) {
      (*plan)(args);
    };
  }
  return [plan = std::make_shared<CubeConv2d>(problem, kBackward)](const KernelArgs& args) {
    (*plan)(args);
  };
}

template <bool kBackward>
std::size_t temporaries(const Problem& problem) {
  if (OnePlaceConv2d::takes(problem)) {
    return OnePlaceConv2d::temporary_bytes(problem, kBackward);
  }
  const CubePlan plan(problem, kBackward);
  return sizeof(float) *
         static_cast<std::size_t>(plan.factors() + thread_count() * plan.rows.band_elements());
}

const RegisteredKernel conv2d{{
    .op = "conv2d",
    .name = "conv2d",
    .provider = Provider::npu,
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
    .provider = Provider::npu,
    .summary = "Conv2DBackpropInput: fp16 operands, fp32 sums over taps and outputs",
    .refusal = conv2d_refusal,
    .prepare = prepare<true>,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries<true>,
}};

}  // namespace
}  // namespace opbench
