// The gradient of a convolution by its weight in plain formats: the windows' inputs times dy, with
// places as terms; depthwise convolutions plane by plane.
#include <algorithm>
#include <memory>

#include "kernels/conv2d_strips.h"
#include "kernels/copy/plane.h"
#include "kernels/simd/gemm.h"
#include "kernels/simd/in_fp32.h"
#include "kernels/simd/plane_windows.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
float* output(const KernelArgs& args) { return static_cast<float*>(args.outputs[0]); }

// The sizes of temporaries, in elements.
struct Sizes {
  std::int64_t columns;  // outputs of a group, rounded up
  std::int64_t padded;   // an image's planes with their padding
  std::int64_t turned;   // an image's dy, groups of [places, columns]
  std::int64_t sums;     // groups of [terms, columns]
  std::int64_t images;   // images that fit the caches of the threads

  explicit Sizes(const Conv2d& conv)
      : columns(round_up_to_vector(conv.group_m())),
        padded(conv.c * PaddedPlanes(conv, conv.oh).channel()),
        turned(conv.groups * conv.oh * conv.ow * columns),
        sums(conv.c * conv.taps() * columns) {
    const auto cache = static_cast<std::int64_t>(own_cache_bytes() / sizeof(float) / 2);
    images = cache * thread_count() / std::max<std::int64_t>(1, padded + turned);
    images = std::clamp<std::int64_t>(images, 1, std::max<std::int64_t>(1, conv.n));
  }
  std::int64_t all() const { return images * (padded + turned) + sums; }
};

// Image by image, so that sums do not depend on the number of threads, which divide the terms.
struct GradWeight {
  static constexpr std::int64_t kTile = 64;  // terms

  Conv2d conv;
  Sizes sizes;
  PaddedPlanes planes;
  std::vector<std::int64_t> terms, places, rows;
  Scratch padded, turned, sums;

  explicit GradWeight(const Conv2d& c)
      : conv(c),
        sizes(c),
        planes(c, c.oh),
        terms(planes.terms()),
        rows(multiples(c.oh * c.ow, sizes.columns)),
        padded(sizes.images * sizes.padded),
        turned(sizes.images * sizes.turned),
        sums(sizes.sums) {
    for (std::int64_t i = 0; i < c.oh * c.ow; ++i) {
      places.push_back(i / c.ow * planes.pitch() + i % c.ow);
    }
  }

  // Images [first, first + count): pads every channel and transposes every group of dy.
  void load(const KernelArgs& args, std::int64_t first, std::int64_t count) const {
    const std::int64_t all = conv.oh * conv.ow, m = conv.group_m(), columns = sizes.columns;
    parallel_blocks(count * (conv.c + conv.groups), [&](std::int64_t i) {
      if (i < count * conv.c) {
        planes.fill(input(args, 1) + (first * conv.c + i) * conv.h * conv.w, 0,
                    padded.data() + i * planes.channel());
        return;
      }
      i -= count * conv.c;
      transpose_plane({sizeof(float), all, columns, all, columns, all, m, nullptr},
                      input(args, 0) + (first * conv.groups + i) * m * all,
                      turned.data() + i * all * columns, false);
    });
  }

  // Adds kTile terms of a group in `count` images.
  void add_tile(std::int64_t g, std::int64_t first, std::int64_t count, bool accumulate) const {
    const std::int64_t all = conv.oh * conv.ow, columns = sizes.columns;
    float* to = sums.data() + (g * conv.terms() + first) * columns;
    for (std::int64_t n = 0; n < count; ++n) {
      gemm_at({std::min(kTile, conv.terms() - first), columns, all, 0, 0, columns},
              {terms.data() + first, places.data(), rows.data()},
              padded.data() + (n * conv.groups + g) * conv.group_c() * planes.channel(),
              turned.data() + (n * conv.groups + g) * all * columns, to, accumulate || n > 0);
    }
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t of_group = conv.terms(), m = conv.group_m();
    if (conv.n == 0) {
      std::fill_n(output(args), conv.m * of_group, 0.0f);
      return;
    }
    const std::int64_t tiles = (of_group + kTile - 1) / kTile;
    for (std::int64_t n = 0; n < conv.n; n += sizes.images) {
      const std::int64_t count = std::min(sizes.images, conv.n - n);
      load(args, n, count);
      parallel_blocks(conv.groups * tiles, [&](std::int64_t i) {
        add_tile(i / tiles, i % tiles * kTile, count, n > 0);
      });
    }
    parallel_blocks(conv.groups, [&](std::int64_t g) {
      transpose_plane({sizeof(float), m, of_group, sizes.columns, of_group, m, of_group, nullptr},
                      sums.data() + g * of_group * sizes.columns, output(args) + g * m * of_group,
                      false);
    });
  }
};

// Also image by image; the threads divide the channels.
Launch by_planes(const Problem& problem) {
  return in_fp32(problem, [conv = conv2d_shape(problem)](const KernelArgs& args) {
    parallel_blocks(conv.m, [&](std::int64_t m) {
      float* dw = output(args) + m * conv.taps();
      std::fill_n(dw, conv.taps(), 0.0f);
      for (std::int64_t i = m; i < conv.n * conv.m; i += conv.m) {
        add_taps_of_plane(conv, input(args, 0) + i * conv.oh * conv.ow,
                          input(args, 1) + i * conv.h * conv.w, dw);
      }
    });
  });
}

Launch prepare(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  if (is_by_planes(conv)) return by_planes(problem);
  const auto plan = std::make_shared<GradWeight>(conv);
  return in_fp32(problem, [plan](const KernelArgs& args) { (*plan)(args); });
}

std::size_t temporaries(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  const std::int64_t own = is_by_planes(conv) ? 0 : Sizes(conv).all();
  return in_fp32_bytes(problem) + static_cast<std::size_t>(own) * sizeof(float);
}

const RegisteredKernel conv2d_grad_weight{{
    .op = "conv2d_grad_weight",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a product of the windows' inputs and dy in fp32, image by image; depthwise: "
               "plane by plane",
    .refusal = plain_conv2d_refusal,
    .prepare = prepare,
    .temporary_bytes = temporaries,
}};

}  // namespace
}  // namespace opbench
