#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

struct Box {
  double x1, y1, x2, y2;

  double area() const { return (x2 - x1) * (y2 - y1); }
};

// The intersection may be empty: then a side is negative.
Box intersection(const Box& a, const Box& b) {
  return {std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2), std::min(a.y2, b.y2)};
}

double shared_area(const Box& both) {
  return std::max(both.x2 - both.x1, 0.0) * std::max(both.y2 - both.y1, 0.0);
}

double iou(const Box& a, const Box& b) {
  const double inter = shared_area(intersection(a, b));
  return inter > 0 ? inter / (a.area() + b.area() - inter) : 0;
}

// The change of a box's area if each coordinate changes by as much as itself. Independent rounding
// errors add up like squares.
double area_rounding(const Box& box) {
  const double width = std::max(box.x2 - box.x1, 0.0), height = std::max(box.y2 - box.y1, 0.0);
  return std::hypot(height * std::hypot(box.x1, box.x2), width * std::hypot(box.y1, box.y2));
}

// Sides are differences of coordinates, which a device first rounds to fp16.
double iou_rounding(const Box& a, const Box& b) {
  const Box both = intersection(a, b);
  const double inter = shared_area(both), all = a.area() + b.area() - inter;
  if (!(all > 0)) return 0;
  const double areas = (area_rounding(a) + area_rounding(b)) * inter / all;
  return (area_rounding(both) * (1 + inter / all) + areas) / all;
}

std::vector<Box> read_boxes(const InputReader& boxes) {
  std::vector<double> values(static_cast<std::size_t>(boxes.desc().elements()));
  boxes.read({0, boxes.desc().elements()}, values);
  std::vector<Box> result;
  for (std::size_t i = 0; i < values.size(); i += 4) {
    result.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
  }
  return result;
}

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
