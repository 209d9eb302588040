#include "ops/view_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kAllowed =
    "transpose(a,b), permute(a,b,...), slice(axis,start,length[,step]), select(axis,index), "
    "broadcast(d,d,...), and as_strided([shape],[strides],offset) as the first";

/// Reads "name(arguments)" steps joined by dots, left to right.
class StepReader {
 public:
  explicit StepReader(std::string_view text) : text_(text) {}

  bool at_end() const { return rest().empty(); }
  std::string_view step() const { return text_.substr(start_, position_ - start_); }

  // Reads the name of the next step and its opening bracket.
  std::string_view open_step() {
    if (position_ != 0) expect('.');
    start_ = position_;
    const std::size_t length = std::min(rest().find('('), rest().size());
    const std::string_view step_name = rest().substr(0, length);
    position_ += length;
    expect('(');
    return step_name;
  }
  void close_step() { expect(')'); }

  std::int64_t number() {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(rest().data(), rest().data() + rest().size(), value);
    if (status != std::errc{}) fail("a whole number");
    position_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  // Reads "a,b,c" up to `close`; empty if `close` follows at once.
  Dims numbers(char close) {
    Dims values;
    if (rest().starts_with(close)) return values;
    do values.push_back(number());
    while (skip(','));
    return values;
  }
  Dims bracketed() {
    expect('[');
    Dims values = numbers(']');
    expect(']');
    return values;
  }
  void expect(char wanted) {
    if (!skip(wanted)) fail(fmt::format("'{}'", wanted));
  }

 private:
  std::string_view rest() const { return text_.substr(position_); }
  bool skip(char wanted) {
    if (!rest().starts_with(wanted)) return false;
    ++position_;
    while (rest().starts_with(' ')) ++position_;
    return true;
  }
  [[noreturn]] void fail(std::string_view wanted) const {
    throw Error(
        fmt::format("expected {} before '{}'; allowed steps: {}", wanted, rest(), kAllowed));
  }

  std::string_view text_;
  std::size_t start_ = 0, position_ = 0;
};

// The arguments as Dims, which must have from `least` to `most` numbers.
Dims arguments(StepReader& reader, std::string_view step, std::size_t least, std::size_t most) {
  Dims values = reader.numbers(')');
  reader.close_step();
  if (values.size() >= least && values.size() <= most) return values;
  throw Error(fmt::format("{} takes {}{} numbers, found {}", step, least,
                          most == least ? "" : fmt::format(" to {}", most), values.size()));
}

// Every product and sum is checked before it is computed, so nothing overflows.
void check_strided(const StridedView& view, std::int64_t elements) {
  if (view.shape.size() != view.strides.size()) {
    throw Error(fmt::format("{} extents, but {} strides", view.shape.size(), view.strides.size()));
  }
  const bool is_empty = element_count(view.shape) == 0;
  std::int64_t last = view.offset;
  bool fits = view.offset >= 0 && (is_empty || view.offset < elements);
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    fits = fits && view.strides[i] >= 0;
    std::int64_t span = 0;
    if (is_empty || !fits) continue;
    fits = !__builtin_mul_overflow(view.shape[i] - 1, view.strides[i], &span) &&
           !__builtin_add_overflow(last, span, &last) && last < elements;
  }
  if (!fits) {
    throw Error(
        fmt::format("it leaves the {} elements of the tensor; allowed: strides and offset "
                    "from 0, the last element before {}",
                    elements, elements));
  }
}

StridedView as_strided(StepReader& reader, const Dims& base) {
  StridedView view;
  view.shape = reader.bracketed();
  reader.expect(',');
  view.strides = reader.bracketed();
  reader.expect(',');
  view.offset = reader.number();
  reader.close_step();
  check_strided(view, element_count(base));
  return view;
}

struct Step {
  std::string_view name;
  std::size_t least, most;  ///< the allowed count of numbers
  StridedView (*apply)(const StridedView& view, const Dims& numbers);
};

constexpr std::array kSteps = {
    Step{"transpose", 2, 2,
         [](const StridedView& v, const Dims& n) { return transpose(v, n[0], n[1]); }},
    Step{"permute", 0, kLargestRank,
         [](const StridedView& v, const Dims& n) { return permute(v, n); }},
    Step{"slice", 3, 4,
         [](const StridedView& v, const Dims& n) {
           return slice(v, n[0], n[1], n[2], n.size() == 4 ? n[3] : 1);
         }},
    Step{"select", 2, 2, [](const StridedView& v, const Dims& n) { return select(v, n[0], n[1]); }},
    Step{"broadcast", 0, kLargestRank,
         [](const StridedView& v, const Dims& n) { return broadcast_to(v, n); }},
};

StridedView apply_step(StepReader& reader, std::string_view step_name, const StridedView& view) {
  const auto step = std::find_if(kSteps.begin(), kSteps.end(), [&](const Step& candidate) {
    return candidate.name == step_name;
  });
  if (step == kSteps.end()) {
    throw Error(fmt::format("step '{}' is unknown; allowed: {}", step_name, kAllowed));
  }
  return step->apply(view, arguments(reader, step_name, step->least, step->most));
}

}  // namespace

StridedView parse_view(std::string_view text, const Dims& base) {
  StepReader reader(text);
  StridedView view = dense_view(base);
  try {
    bool is_first = true;
    do {
      const std::string_view step_name = reader.open_step();
      view = step_name == "as_strided" && is_first ? as_strided(reader, base)
                                                   : apply_step(reader, step_name, view);
      is_first = false;
    } while (!reader.at_end());
  } catch (const Error& error) {
    throw Error(fmt::format("contiguous: view '{}' of input 'x' with shape {}, at '{}': {}", text,
                            to_string(base), reader.step(), error.what()));
  }
  return view;
}

}  // namespace opbench
