#include "kernels/conv2d_one_place.h"

#include "kernels/simd/conv2d_pack.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Weights of a group: half of a small first-level cache.
constexpr std::int64_t kGroupFactors = 4096;

std::int64_t tap_factors_of(const CubePlan& plan) {
  return plan.term_blocks * kCube * kPanelBlocks * kCube;
}
std::int64_t group_of(const CubePlan& plan) {
  return std::max<std::int64_t>(1, kGroupFactors / std::max<std::int64_t>(1, tap_factors_of(plan)));
}

// The tap that every element of an axis meets, -1 for none.
std::vector<std::int64_t> taps_of(const ConvAxis& axis, std::int64_t elements) {
  std::vector<std::int64_t> taps(static_cast<std::size_t>(elements), -1);
  for (const AxisPhase& phase : axis.phases) {
    for (const AxisTap& tap : phase.taps) {
      for (std::int64_t q = tap.begin; q < tap.end; ++q) {
        taps[static_cast<std::size_t>(phase.first + q * axis.out_step)] = tap.tap;
      }
    }
  }
  return taps;
}

}  // namespace

bool OnePlaceConv2d::takes(const Problem& problem) {
  return ChannelPlanes(problem.inputs[0]).inner == 1;
}

OnePlaceConv2d::OnePlaceConv2d(const Problem& problem, bool backward)
    : plan_(problem, backward),
      tap_factors_(tap_factors_of(plan_)),
      group_(group_of(plan_)),
      images_{{0, plan_.in.outer, {{0, 0, 0, plan_.in.outer}}}},
      x_(plan_.in.count() * kCube) {
  const std::int64_t width = plan_.axes.out_w;
  const std::int64_t height = width == 0 ? 0 : plan_.out.inner / width;
  const std::vector<std::int64_t> along = taps_of(plan_.axes.w, width);
  for (const std::int64_t down : taps_of(plan_.axes.h, height)) {
    for (const std::int64_t across : along) {
      const auto element = static_cast<std::int64_t>(elements_.size());
      const bool meets = down >= 0 && across >= 0;
      taps_.push_back(meets ? down * plan_.axes.w.kernel + across : -1);
      ConvPhase& row = elements_.emplace_back(ConvPhase{element, 1, {}});
      if (meets) row.taps.push_back({0, element % group_, 0, 1});
    }
  }
}

// The elements of a group, sums of a panel.
void OnePlaceConv2d::compute(const KernelArgs& args, std::int64_t block, std::int64_t panel,
                             std::int64_t group) const {
  thread_local AlignedFloats factors;
  factors.resize(group_ * tap_factors_);
  float bias[kPanelBlocks * kCube];
  ConvImage image{};
  plan_.set_panel(args, block, panel, bias, image);
  const auto all = static_cast<std::int64_t>(elements_.size());
  const std::int64_t begin = group * group_, end = std::min(begin + group_, all);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t tap = taps_[static_cast<std::size_t>(i)];
    if (tap < 0) continue;
    plan_.pack_panel(args.inputs[1], block, panel, tap,
                     factors.data() + (i - begin) * image.channels * image.width);
  }
  image.rows = std::span(elements_).subspan(static_cast<std::size_t>(begin),
                                            static_cast<std::size_t>(end - begin));
  image.columns = images_;
  image.begin = 0;
  image.end = 1;
  image.column_step = plan_.out.planes * plan_.out.inner;
  image.y_width = 1;
  image.lanes = kCube;
  image.plane = plan_.in.outer * kCube;
  image.x = x_.data() + plan_.first_in(block) * image.plane;
  image.w = factors.data();
  image.dtype = plan_.out.dtype;
  for (std::int64_t b = 0; b < image.width / kCube; ++b) {
    image.y[b] =
        plan_.out.address(args.outputs[0], plan_.first_out(block) + panel * kPanelBlocks + b);
  }
  convolve(image);
}

void OnePlaceConv2d::operator()(const KernelArgs& args) const {
  const ChannelPlanes& in = plan_.in;
  for (std::int64_t plane = 0; plane < in.count(); ++plane) {
    load_places(in.dtype, in.address(args.inputs[0], plane), {}, 1,
                x_.data() + (plane % in.planes * in.outer + plane / in.planes) * kCube);
  }
  const std::int64_t groups = (static_cast<std::int64_t>(elements_.size()) + group_ - 1) / group_;
  const std::int64_t panels = plan_.panels();
  parallel_blocks(in.outer == 0 ? 0 : plan_.weight.fractal.blocks * panels * groups,
                  [&](std::int64_t i) {
                    const std::int64_t block = i / groups / panels, panel = i / groups % panels;
                    if (plan_.panel_blocks(block, panel) > 0) {
                      compute(args, block, panel, i % groups);
                    }
                  });
}

std::size_t OnePlaceConv2d::temporary_bytes(const Problem& problem, bool backward) {
  const CubePlan plan(problem, backward);
  const std::int64_t factors = group_of(plan) * tap_factors_of(plan);
  return sizeof(float) *
         static_cast<std::size_t>(plan.in.count() * kCube + thread_count() * factors);
}

}  // namespace opbench
