// Boxes of falling score; each kept box is compared with all later ones in one loop.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "ops/order.h"

namespace opbench {
namespace {

struct Suppressor {
  DType dtype;
  std::int64_t boxes, rows, most;
  float threshold, least;
  std::vector<float> given, scores;         // in the order of the inputs
  std::vector<float> x1, y1, x2, y2, area;  // by falling score
  std::vector<std::int64_t> order;
  std::vector<std::uint8_t> is_out;

  explicit Suppressor(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        boxes(problem.inputs[0].shape[0]),
        rows(problem.outputs[0].elements()),
        most(problem.attrs.integer("max_output_size")),
        threshold(static_cast<float>(problem.attrs.number("iou_threshold"))),
        least(static_cast<float>(problem.attrs.number("score_threshold"))) {
    const auto count = static_cast<std::size_t>(boxes);
    given.resize(4 * count);
    order.resize(count);
    is_out.resize(count);
    for (std::vector<float>* all : {&scores, &x1, &y1, &x2, &y2, &area}) all->resize(count);
  }

  static std::size_t bytes(const Problem& problem) {
    return static_cast<std::size_t>(problem.inputs[0].shape[0]) * (10 * sizeof(float) + 9);
  }

  void sort(const KernelArgs& args) {
    load_floats(dtype, args.inputs[0], 4 * boxes, given.data());
    load_floats(dtype, args.inputs[1], boxes, scores.data());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const float* const s = scores.data();
    std::sort(order.begin(), order.end(), [s](std::int64_t a, std::int64_t b) {
      if (is_less(s[b], s[a])) return true;
      return a < b && !is_less(s[a], s[b]);
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const float* const box = given.data() + 4 * order[i];
      x1[i] = box[0], y1[i] = box[1], x2[i] = box[2], y2[i] = box[3];
      area[i] = (box[2] - box[0]) * (box[3] - box[1]);
      is_out[i] = s[order[i]] > least ? 0 : 1;
    }
  }

  // Source: torchvision's nms_kernel: the comparison is strict, and NaN does not suppress.
  void suppress_after(std::size_t i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const float width = std::max(0.0f, std::min(x2[i], x2[j]) - std::max(x1[i], x1[j]));
      const float height = std::max(0.0f, std::min(y2[i], y2[j]) - std::max(y1[i], y1[j]));
      const float both = width * height, overlap = both / (area[i] + area[j] - both);
      is_out[j] |= static_cast<std::uint8_t>(overlap > threshold);
    }
  }

  void operator()(const KernelArgs& args) {
    sort(args);
    auto* const keep = static_cast<std::int64_t*>(args.outputs[0]);
    std::int64_t kept = 0;
    for (std::size_t i = 0; i < order.size() && kept < rows && kept != most; ++i) {
      if (is_out[i] != 0) continue;
      keep[kept++] = order[i];
      suppress_after(i);
    }
    std::fill(keep + kept, keep + rows, boxes);
  }
};

const RegisteredKernel native{{
    .op = "nms",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a sort, then each kept box compared with all later ones, in fp32",
    .prepare = [](const Problem& problem) -> Launch { return Suppressor(problem); },
    .temporary_bytes = Suppressor::bytes,
}};

}  // namespace
}  // namespace opbench
