#include "judge/indices.h"

#include <cmath>
#include <vector>

namespace opbench {
namespace {

bool are_equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool is_place(double index, const IndexedLines& lines) {
  return index >= 0 && index < static_cast<double>(lines.extent) && std::trunc(index) == index;
}

/// A line of the output, and the input's line that its indices refer to.
class IndexedLine {
 public:
  IndexedLine(const IndexedLines& lines, std::int64_t line, std::span<const double> values)
      : lines_(lines),
        outer_(line / lines.inner),
        inside_(line % lines.inner),
        values_(values),
        is_named_(lines.are_distinct ? static_cast<std::size_t>(lines.extent) : 0) {}

  std::size_t element(std::int64_t place) const { return at(place, lines_.places); }

  bool accepts(double actual, double expected) {
    if (!is_place(actual, lines_)) return false;
    const auto place = static_cast<std::int64_t>(actual);
    if (lines_.are_distinct) {
      if (is_named_[static_cast<std::size_t>(place)]) return false;
      is_named_[static_cast<std::size_t>(place)] = true;
    }
    return are_equal(values_[at(place, lines_.extent)],
                     values_[at(static_cast<std::int64_t>(expected), lines_.extent)]);
  }

 private:
  std::size_t at(std::int64_t place, std::int64_t extent) const {
    return static_cast<std::size_t>((outer_ * extent + place) * lines_.inner + inside_);
  }

  const IndexedLines& lines_;
  std::int64_t outer_, inside_;
  std::span<const double> values_;
  std::vector<bool> is_named_;
};

}  // namespace

bool name_equal_elements(const IndexedLines& lines, std::span<const double> values,
                         std::span<const double> actual, std::span<const double> expected) {
  for (std::int64_t i = 0; i < lines.outer * lines.inner; ++i) {
    IndexedLine line(lines, i, values);
    for (std::int64_t k = 0; k < lines.places; ++k) {
      const std::size_t element = line.element(k);
      if (!line.accepts(actual[element], expected[element])) return false;
    }
  }
  return true;
}

bool is_right_but_for_ties(const CallToJudge& call, std::size_t output) {
  const Op& op = *call.problem.op;
  const auto lines = op.indexed != nullptr ? op.indexed(call.problem, output) : std::nullopt;
  if (!lines) return false;
  const std::vector<InputReader> inputs = readers_of(call);
  const TensorDesc& desc = call.problem.outputs[output];
  Tensor golden(describe(desc.dtype, desc.shape));
  op.exact_reference(inputs, call.problem.attrs)(output, {0, desc.elements()}, golden.data());
  return name_equal_elements(*lines, inputs[0].read_all(),
                             InputReader(desc, call.outputs[output]).read_all(),
                             InputReader(golden.desc, golden.data()).read_all());
}

}  // namespace opbench
