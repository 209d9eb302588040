// Boxes of falling score that overlap no better box by more than a threshold.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/boxes.h"
#include "ops/choice.h"
#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/order.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "nms";
using Places = std::vector<std::int64_t>;

/// The places of `chosen` in its order, one for each box; the count of boxes for others. Of a list
/// that names a box twice the first place counts.
Places ranks_of(const Places& chosen, std::int64_t boxes) {
  Places ranks(static_cast<std::size_t>(boxes), boxes);
  for (std::size_t i = chosen.size(); i-- > 0;) {
    if (chosen[i] < 0 || chosen[i] >= boxes) continue;
    ranks[static_cast<std::size_t>(chosen[i])] = static_cast<std::int64_t>(i);
  }
  return ranks;
}

// False if the area of a box may overflow in fp32, or is below its smallest normal number, where it
// loses precision.
bool fits_fp32(const Box& box) {
  const double width = std::fabs(box.x2 - box.x1), height = std::fabs(box.y2 - box.y1);
  const double area = width * height;
  return std::max({width, height, area}) < 0x1p127 && (area == 0 || area >= 0x1p-126);
}

/// One use of the operator. Boxes that were chosen elsewhere decide where rounding may: among equal
/// scores, and for an overlap at the threshold.
struct Suppression {
  std::vector<Box> boxes;
  std::vector<double> scores;
  Places ranks;  ///< of the boxes that were chosen elsewhere
  double threshold, least, unit;
  std::int64_t most;
  bool follows;

  Suppression(std::span<const InputReader> inputs, const Attrs& attrs, const Places& chosen)
      : boxes(read_boxes(inputs[0])),
        scores(inputs[1].read_all()),
        ranks(ranks_of(chosen, std::ssize(boxes))),
        threshold(attrs.number("iou_threshold")),
        least(attrs.number("score_threshold")),
        // A device may compute overlaps of fp16 in fp16. k is that of the error bound.
        unit(4 * (inputs[0].desc().dtype == DType::fp16 ? 0x1p-11 : 0x1p-24)),
        most(attrs.integer("max_output_size")),
        follows(!chosen.empty()) {}

  std::size_t count() const { return boxes.size(); }

  Places by_falling_score() const {
    Places order(count());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
      if (is_less(scores[j], scores[i])) return true;
      return !is_less(scores[i], scores[j]) && ranks[i] < ranks[j];
    });
    return order;
  }

  // A box is suppressed if one of `kept` overlaps it; if only rounding decides that, it is kept if
  // it was chosen.
  bool is_suppressed(std::size_t box, const Places& kept) const {
    bool may_be = false;
    for (const std::int64_t other : kept) {
      const Box& better = boxes[static_cast<std::size_t>(other)];
      const double overlap = iou(better, boxes[box]);
      const double rounding =
          unit * (iou_rounding(better, boxes[box]) + overlap + std::fabs(threshold));
      const bool is_exact = fits_fp32(better) && fits_fp32(boxes[box]);
      if (!follows || (is_exact && std::fabs(overlap - threshold) > rounding)) {
        if (overlap > threshold) return true;
      } else {
        may_be = true;
      }
    }
    return may_be && ranks[box] == std::ssize(boxes);
  }

  Places kept() const {
    Places all;
    for (const std::int64_t box : by_falling_score()) {
      if (most >= 0 && std::ssize(all) >= most) break;
      const auto i = static_cast<std::size_t>(box);
      if (scores[i] > least && !is_suppressed(i, all)) all.push_back(box);
    }
    return all;
  }
};

std::int64_t rows_of(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const std::int64_t rows = attrs.integer("rows");
  return rows < 0 ? inputs[0].shape[0] : rows;
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims &boxes = inputs[0].shape, &scores = inputs[1].shape;
  if (boxes.size() != 2 || boxes[1] != 4 || scores != Dims{boxes[0]}) {
    throw Error(
        fmt::format("{}: 'boxes' has shape {} and 'scores' {}; allowed: [boxes, 4] "
                    "(x1, y1, x2, y2) and a score for each box",
                    kName, to_string(boxes), to_string(scores)));
  }
  return {describe(DType::int64, {rows_of(inputs, attrs)})};
}

// Rows after the kept boxes have their number. If more boxes are kept than there are rows, the last
// row names none of them, so that no result is right.
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Places kept = Suppression(inputs, attrs, {}).kept();
  const auto rows = static_cast<std::size_t>(rows_of(descs_of(inputs), attrs));
  std::vector<double> y(rows, double(inputs[0].desc().shape[0]));
  std::copy_n(kept.begin(), std::min(rows, kept.size()), y.begin());
  if (kept.size() > rows && rows > 0) y.back() = -1;
  return elements_of({std::move(y)});
}

// Kept boxes in order, then as many elements without a box as there are rows, then other boxes.
IndexChoice::Scores scores(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Places chosen = inputs.size() > 2 ? inputs[2].read_index() : Places();
  const Places kept = Suppression(inputs, attrs, chosen).kept();
  const std::int64_t boxes = inputs[0].desc().shape[0],
                     rows = rows_of(descs_of(inputs.first(2)), attrs);
  std::vector<double> values(static_cast<std::size_t>(boxes + rows), 0);
  for (std::int64_t i = 0; i < boxes; ++i) values[static_cast<std::size_t>(i)] = -1 - double(i);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    // Too many boxes: the order is wrong for every list of chosen boxes.
    const bool fits = std::ssize(kept) <= rows;
    values[static_cast<std::size_t>(kept[k])] = double(fits ? kept.size() - k : k + 1);
  }
  return {values, std::vector<double>(values.size())};
}

std::optional<IndexedLines> indexed(const Problem& problem, std::size_t) {
  const std::int64_t rows = problem.outputs[0].elements();
  return IndexedLines{.extent = problem.inputs[0].shape[0] + rows, .places = rows};
}

// At worst every box is compared with all better ones.
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const double boxes = double(problem.inputs[0].shape[0]);
  traffic.operations = 12 * boxes * (boxes - 1) / 2;
  return traffic;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "y = the boxes of falling score, of equal ones the first first, whose overlap with "
               "every kept box is at most iou_threshold; then the number of boxes",
    .source = "torchvision.ops.nms; CANN NonMaxSuppressionV3",
    .known_as = {.calls = {{"nms",
                            "dets, scores",
                            "result",
                            {.attrs = "iou_threshold, rows: rows of result",
                             .needs = "iou_threshold"}},
                           {"NonMaxSuppressionV3, npu_nms_v4",
                            "boxes|self, scores",
                            "selected_indices|result0",
                            {.is_profiled_only = true}}},
                 .profiled = {{"NonMaxSuppressionV3",
                               "boxes, scores, =max_output_size, =iou_threshold, =score_threshold",
                               "selected_indices"},
                              {"torchvision::nms", "dets, scores, =iou_threshold"}}},
    .inputs = {{.name = "boxes",
                .data =
                    [](const Problem&) {
                      return Distribution{DistributionKind::boxes, 48, 1};
                    }},
               {.name = "scores",
                .data =
                    [](const Problem&) {
                      return Distribution{DistributionKind::uniform, 0, 1};
                    }}},
    .outputs = {{.name = "keep", .differentiable = false}},
    .attrs = {{"iou_threshold", 0.5, "a greater overlap suppresses",
               [](const AttrValue& value) -> std::string {
                 return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
               }},
              {"score_threshold", -double(std::numeric_limits<float>::max()),
               "boxes with this score or less are left out"},
              {"max_output_size", std::int64_t{-1}, "no more boxes are kept; -1: all"},
              {"rows", std::int64_t{-1}, "rows of y; -1: as many as boxes"}},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::ND},
    .infer = infer,
    .reference = reference,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          std::vector<double> none(
              static_cast<std::size_t>(infer(descs_of(inputs.first(2)), attrs)[0].elements()));
          return Terms{.magnitude = elements_of({std::move(none)})};
        },
    .indexed = indexed,
    .traffic = traffic,
    .inputs_like = [](const Dims& shape, const Attrs&) -> std::vector<Dims> {
      return {shape, {shape.empty() ? 1 : shape[0]}};
    },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          const std::size_t kept = Suppression(inputs, problem.attrs, {}).kept().size();
          if (kept == 0 || problem.outputs[0].elements() > 0) return;
          throw Error(fmt::format("{}: 'keep' has no rows, but {} boxes are kept", kName, kept));
        },
    .mixing = Mixing::other,
}};

const RegisteredChoice kChoice({kName, 0, scores});

}  // namespace
}  // namespace opbench
