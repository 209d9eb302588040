#include "judge/indices.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "judge/bound.h"
#include "ops/choice.h"
#include "ops/order.h"

namespace opbench {
namespace {

bool are_equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool is_place(double index, const IndexedLines& lines) {
  return index >= 0 && index < static_cast<double>(lines.extent) && std::trunc(index) == index;
}

/// A line of the output, and the input's line that its indices refer to.
class IndexedLine {
 public:
  IndexedLine(const IndexedLines& lines, std::int64_t line, std::span<const double> values,
              std::span<const double> bounds)
      : lines_(lines),
        outer_(line / lines.inner),
        inside_(line % lines.inner),
        values_(values),
        bounds_(bounds),
        is_named_(lines.are_distinct ? static_cast<std::size_t>(lines.extent) : 0) {}

  std::size_t element(std::int64_t place) const { return at(place, lines_.places); }

  bool accepts(double actual, double expected) {
    if (!is_place(expected, lines_)) return actual == expected;
    if (!is_place(actual, lines_)) return false;
    const auto place = static_cast<std::int64_t>(actual);
    if (lines_.are_distinct) {
      if (is_named_[static_cast<std::size_t>(place)]) return false;
      is_named_[static_cast<std::size_t>(place)] = true;
    }
    const std::size_t best = at(static_cast<std::int64_t>(expected), lines_.extent);
    const double value = values_[at(place, lines_.extent)];
    if (are_equal(value, values_[best])) return true;
    return !bounds_.empty() && std::fabs(value - values_[best]) <= bounds_[best];
  }

 private:
  std::size_t at(std::int64_t place, std::int64_t extent) const {
    return static_cast<std::size_t>((outer_ * extent + place) * lines_.inner + inside_);
  }

  const IndexedLines& lines_;
  std::int64_t outer_, inside_;
  std::span<const double> values_, bounds_;
  std::vector<bool> is_named_;
};

// Replaces expected indices by the places of the greatest scores, unless they name no element.
void take_greatest(const IndexedLines& lines, std::span<const double> scores,
                   std::span<double> expected) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(lines.extent));
  for (std::int64_t line = 0; line < lines.outer; ++line) {
    const auto to = expected.subspan(static_cast<std::size_t>(line * lines.places),
                                     static_cast<std::size_t>(lines.places));
    if (!is_place(to[0], lines)) continue;
    std::iota(places.begin(), places.end(), std::int64_t{0});
    std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
      const std::int64_t first = line * lines.extent;
      return is_less(scores[static_cast<std::size_t>(first + b)],
                     scores[static_cast<std::size_t>(first + a)]);
    });
    std::copy_n(places.begin(), to.size(), to.begin());
  }
}

// Compares the computed scores. The claims are those of the operator's first output.
bool are_right_choices(const CallToJudge& call, const IndexChoice& choice,
                       const IndexedLines& lines) {
  const std::vector<InputReader> inputs = readers_of(call);
  const TensorDesc& desc = call.problem.outputs[choice.output];
  const IndexChoice::Scores scores =
      choice.scores(with_chosen(*call.problem.op, inputs, {desc, call.outputs[choice.output]}),
                    call.problem.attrs);
  std::vector<double> expected(static_cast<std::size_t>(desc.elements())), bounds;
  call.problem.op->reference(inputs, call.problem.attrs)(choice.output, {0, desc.elements()},
                                                         expected);
  take_greatest(lines, scores.values, expected);
  const std::vector<double> actual = InputReader(desc, call.outputs[choice.output]).read_all();
  const std::vector<Claim> claims = claims_of(call.problem, 0, call.maker);
  return std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
    bounds = scores.magnitudes;
    for (double& bound : bounds) bound *= factor_of_terms(claim, double(lines.extent));
    return name_equal_elements(lines, scores.values, actual, expected, bounds);
  });
}

}  // namespace

bool name_equal_elements(const IndexedLines& lines, std::span<const double> values,
                         std::span<const double> actual, std::span<const double> expected,
                         std::span<const double> bounds) {
  for (std::int64_t i = 0; i < lines.outer * lines.inner; ++i) {
    IndexedLine line(lines, i, values, bounds);
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
  if (op.exact_reference == nullptr) {
    const IndexChoice* const choice = find_choice(op.name);
    return choice != nullptr && are_right_choices(call, *choice, *lines);
  }
  const std::vector<InputReader> inputs = readers_of(call);
  const TensorDesc& desc = call.problem.outputs[output];
  Tensor golden(describe(desc.dtype, desc.shape));
  op.exact_reference(inputs, call.problem.attrs)(output, {0, desc.elements()}, golden.data());
  return name_equal_elements(*lines, inputs[0].read_all(),
                             InputReader(desc, call.outputs[output]).read_all(),
                             InputReader(golden.desc, golden.data()).read_all());
}

std::vector<InputReader> inputs_of_reference(const CallToJudge& call, std::size_t output) {
  std::vector<InputReader> inputs = readers_of(call);
  const Op& op = *call.problem.op;
  const IndexChoice* const choice = find_choice(op.name);
  if (choice == nullptr || choice->output == output) return inputs;
  const void* const chosen = call.outputs[choice->output];
  if (chosen == nullptr) return inputs;
  return with_chosen(op, std::move(inputs), {call.problem.outputs[choice->output], chosen});
}

}  // namespace opbench
