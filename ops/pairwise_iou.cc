#include <fmt/format.h>

#include <algorithm>

#include "ops/boxes.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

template <double (*kOfPair)(const Box& a, const Box& b)>
Reference reference(std::span<const InputReader> inputs) {
  return [a = read_boxes(inputs[0]), b = read_boxes(inputs[1])](std::size_t, ElementRange range,
                                                                std::span<double> to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t pair = static_cast<std::size_t>(range.first) + i;
      to[i] = kOfPair(a[pair / b.size()], b[pair % b.size()]);
    }
  };
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Dims& shape = inputs[i].shape;
    if (shape.size() == 2 && shape[1] == 4) continue;
    throw Error(fmt::format("pairwise_iou: 'boxes{}' has shape {}; allowed: Nx4 (x1, y1, x2, y2)",
                            i + 1, to_string(shape)));
  }
  return {describe(inputs[0].dtype, {inputs[0].shape[0], inputs[1].shape[0]})};
}

// Operations per pair: two minima, two maxima, two differences, two clamps, two products, a sum, a
// difference and a division.
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 12.0 * double(problem.outputs[0].elements());
  return traffic;
}

// Small boxes: 14 % of the pairs overlap. With boxes of image size (boxes(1344)) it is 9 %, and
// results that are nearly all zero prove little. Small areas also show the device's eps.
Distribution boxes(const Problem&) { return {DistributionKind::boxes, 48, 1}; }

// The number of object boxes of one image; the second input has the many proposals.
constexpr std::int64_t kMostObjects = 256;

const RegisteredOp registered{{
    .name = "pairwise_iou",
    .ir_name = "pairwise_iou",
    .summary = "y[i][j] = inter/(area1 + area2 - inter) of boxes i and j, 0 where inter is 0",
    .source = "detectron2.structures.pairwise_iou; CANN Iou",
    .known_as = {.not_recorded =
                     "dumps hold the element-wise operators that box_iou is composed of"},
    .inputs = {{.name = "boxes1", .data = boxes}, {.name = "boxes2", .data = boxes}},
    .outputs = {{"result"}},
    .dtypes = {DType::fp32, DType::fp16},
    .formats = {Format::ND},
    .infer = infer,
    .reference = [](std::span<const InputReader> in, const Attrs&) { return reference<iou>(in); },
    .terms = [](std::span<const InputReader> in,
                const Attrs&) { return Terms{.magnitude = reference<iou_rounding>(in)}; },
    .traffic = traffic,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          Dims objects = shape;
          if (!objects.empty()) objects[0] = std::min(objects[0], kMostObjects);
          return std::vector<Dims>{objects, shape};
        },
}};

}  // namespace
}  // namespace opbench
