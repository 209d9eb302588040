#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ops/view_text.h"
#include "profiles/profiled_case.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// The reason why a tensor cannot be an operand; empty if it can.
std::string obstacle_of(const ProfiledTensor& tensor) {
  if (!tensor.problem.empty()) return tensor.problem;
  if (tensor.logical) return {};
  return fmt::format("the logical shape of {} {} is not known", name(tensor.format),
                     to_string(tensor.storage));
}

Case one_input(std::string_view op, const ProfiledTensor& x) {
  Case c;
  c.op = &find_op(op);
  c.attrs = Attrs(c.op->attrs);
  c.inputs = {{.shape = *x.logical, .dtype = {}, .data = {}}};
  c.dtype = x.dtype;
  c.format = format_for_rank(x.format, x.logical->size());
  c.origin = fmt::format("a call of {}", op);
  return c;
}

bool is_case(const Case& c) {
  try {
    problem_of(c);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void build_conversion(const ProfiledOperator& one, BuiltCase& built) {
  ProfiledTensor x = one.inputs[0];
  const ProfiledTensor& y = one.outputs[0];
  // The tensor in a plain format gives the logical shape of both.
  if (!x.logical || x.is_upper_bound) x.logical = y.is_upper_bound ? x.logical : y.logical;
  built.obstacle = obstacle_of(x);
  if (!built.obstacle.empty()) return;
  built.inputs = built.outputs = {0};
  Case c = one_input("trans_data", x);
  c.attrs.set(c.op->attrs, "dst_format", name(y.format));
  const int c0 = is_private(y.format) ? c0_of(y) : c0_of(x);
  Case with_c0 = c;
  if (c0 != default_c0(x.dtype)) {
    c.attrs.set(c.op->attrs, "c0", "0");
    if (c0 == 8 || c0 == 16 || c0 == 32) {
      with_c0.attrs.set(c.op->attrs, "c0", std::to_string(c0));
    }
  }
  if (is_case(with_c0)) {
    built.spec = std::move(with_c0);
    return;
  }
  problem_of(c);
  if (c0 != default_c0(x.dtype)) {
    built.notes.push_back(fmt::format("C0 is {}, and {} here", c0, default_c0(x.dtype)));
  }
  built.spec = std::move(c);
}

// The only axis in which the shapes differ. Returns the rank if there is no such axis, or several.
std::size_t other_axis(const Dims& a, const Dims& b) {
  std::size_t axis = a.size();
  if (a.size() != b.size()) return axis;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (axis != a.size()) return a.size();
    axis = i;
  }
  return axis;
}

// Sets a case that makes a view of the first input contiguous.
void build_view(const ProfiledOperator& one, const std::string& view, BuiltCase& built) {
  const Dims& x = *one.inputs[0].logical;
  if (parse_view(view, x).shape != *one.outputs[0].logical) {
    built.obstacle =
        fmt::format("{} of {} is not {}", view, to_string(x), to_string(*one.outputs[0].logical));
    return;
  }
  built.inputs = built.outputs = {0};
  Case c = one_input("contiguous", one.inputs[0]);
  c.format = origin_format(x.size());
  c.attrs.set(c.op->attrs, "view", view);
  problem_of(c);
  built.spec = std::move(c);
}

const std::vector<double>* find_attr(const ProfiledOperator& one, std::string_view name) {
  if (!one.attrs) return nullptr;
  const auto found = one.attrs->find(name);
  return found == one.attrs->end() ? nullptr : &found->second;
}

/// Steps of a view that takes a part of each axis. They run from the last axis to the first, so a
/// removed axis does not change the numbers of the axes that follow.
class PartOfAxes {
 public:
  explicit PartOfAxes(const Dims& x) : x_(x), steps_(x.size()) {}

  void take(std::size_t axis, double start, double length, double step = 1) {
    if (length == double(x_[axis]) && step == 1) return;
    steps_[axis] = fmt::format("slice({},{},{},{})", axis, start, length, step);
  }
  void drop(std::size_t axis, double index) {
    steps_[axis] = fmt::format("select({},{})", axis, index);
  }
  // The view; for a whole tensor, a slice of all elements.
  std::string view() const {
    std::string all;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if (!step->empty()) all += (all.empty() ? "" : ".") + *step;
    }
    return all.empty() ? fmt::format("slice(0,0,{})", x_[0]) : all;
  }

 private:
  const Dims& x_;
  std::vector<std::string> steps_;  // by axis; empty: the whole axis
};

// The view from the offsets and sizes of Slice; empty if they are not known.
std::string view_of_slice(const ProfiledOperator& one) {
  const Dims& x = *one.inputs[0].logical;
  const std::vector<double>* offsets = find_attr(one, "offsets");
  if (offsets == nullptr || offsets->size() != x.size()) return {};
  const Dims& y = *one.outputs[0].logical;
  if (y.size() != x.size()) return {};
  PartOfAxes part(x);
  for (std::size_t i = 0; i < x.size(); ++i) part.take(i, (*offsets)[i], double(y[i]));
  return part.view();
}

bool has_bit(double mask, std::size_t bit) {
  return bit < 32 && mask >= 0 && mask < 4294967296.0 &&
         (static_cast<std::uint64_t>(mask) >> bit & 1) != 0;
}

// The view from the ends and masks of StridedSlice, as TensorFlow defines them; empty if they are
// not known.
std::string view_of_strided_slice(const ProfiledOperator& one) {
  const Dims& x = *one.inputs[0].logical;
  const auto* begin = find_attr(one, "begin");
  const auto* end = find_attr(one, "end");
  const auto* strides = find_attr(one, "strides");
  const auto mask = [&](std::string_view name) {
    const auto* found = find_attr(one, name);
    return found != nullptr && found->size() == 1 ? found->front() : 0;
  };
  if (begin == nullptr || end == nullptr || begin->size() != end->size()) return {};
  if (begin->size() > x.size() || (strides != nullptr && strides->size() != begin->size()))
    return {};
  if (mask("ellipsis_mask") != 0 || mask("new_axis_mask") != 0) return {};
  PartOfAxes part(x);
  for (std::size_t i = 0; i < begin->size(); ++i) {
    const auto extent = static_cast<double>(x[i]);
    const auto place = [&](double at) {
      return std::clamp(at < 0 ? at + extent : at, 0.0, extent);
    };
    const double step = strides == nullptr ? 1 : (*strides)[i];
    const double first = has_bit(mask("begin_mask"), i) ? 0 : place((*begin)[i]);
    const double last = has_bit(mask("end_mask"), i) ? extent : place((*end)[i]);
    if (step < 1 || first >= extent) return {};
    if (has_bit(mask("shrink_axis_mask"), i)) {
      part.drop(i, first);
    } else {
      part.take(i, first, std::max(0.0, std::ceil((last - first) / step)), step);
    }
  }
  return part.view();
}

// The view from the first element on, if the shapes allow it; otherwise empty.
std::string view_by_shapes(const Dims& x, const Dims& y) {
  const Dims kept = with_reduced_axes(x, y);
  if (kept.size() != x.size()) return {};
  PartOfAxes part(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (kept[i] > x[i]) return {};
    y.size() < x.size() && kept[i] != x[i] ? part.drop(i, 0) : part.take(i, 0, double(kept[i]));
  }
  return part.view();
}

void build_slice(const ProfiledOperator& one, BuiltCase& built) {
  if (one.inputs[0].format == Format::FRACTAL_Z) {
    built.obstacle = "a part of FRACTAL_Z";
    return;
  }
  if (one.inputs[0].logical->empty()) {
    built.obstacle = "a part of a scalar";
    return;
  }
  const bool is_strided = one.type.starts_with("Strided");
  std::string view = is_strided ? view_of_strided_slice(one) : view_of_slice(one);
  if (view.empty()) {
    view = view_by_shapes(*one.inputs[0].logical, *one.outputs[0].logical);
    built.are_attrs_known = false;
    built.notes.emplace_back("attributes unknown: taken from the first element on");
  }
  if (view.empty()) {
    built.obstacle = "its offsets and sizes are not known";
    return;
  }
  build_view(one, view, built);
}

void build_strided(const ProfiledOperator& one, BuiltCase& built) {
  const auto* size = find_attr(one, "size");
  const auto* stride = find_attr(one, "stride");
  const auto* offset = find_attr(one, "storage_offset");
  if (size == nullptr || stride == nullptr) {
    built.obstacle = "its strides are not known";
    return;
  }
  const double start = offset == nullptr || offset->empty() ? 0 : offset->front();
  build_view(one,
             fmt::format("as_strided([{}],[{}],{})", fmt::join(*size, ","), fmt::join(*stride, ","),
                         start),
             built);
}

// Also used for Tile that only repeats axes of one element.
void build_broadcast(const ProfiledOperator& one, BuiltCase& built) {
  const Dims& y = *one.outputs[0].logical;
  build_view(one, fmt::format("broadcast({})", fmt::join(y, ",")), built);
}

void build_split(const ProfiledOperator& one, BuiltCase& built) {
  const auto x = std::max_element(one.inputs.begin(), one.inputs.end(), [](auto& a, auto& b) {
    return a.storage.size() < b.storage.size();
  });
  built.obstacle = obstacle_of(*x);
  if (!built.obstacle.empty()) return;
  const std::size_t axis = other_axis(*x->logical, *one.outputs[0].logical);
  std::vector<std::int64_t> sizes;
  for (const ProfiledTensor& y : one.outputs) {
    const bool fits = y.logical && other_axis(*x->logical, *y.logical) == axis;
    if (!fits || axis == x->logical->size()) {
      built.obstacle = "the axis of the split is not known";
      return;
    }
    built.outputs.emplace_back(sizes.size());
    sizes.push_back((*y.logical)[axis]);
  }
  built.inputs = {static_cast<std::size_t>(x - one.inputs.begin())};
  Case c = one_input("split", *x);
  c.format = origin_format(x->logical->size());
  c.attrs.set(c.op->attrs, "axis", std::to_string(axis));
  c.attrs.set(c.op->attrs, "sizes", fmt::format("[{}]", fmt::join(sizes, ",")));
  problem_of(c);
  built.spec = std::move(c);
}

}  // namespace

bool build_moved_case(const ProfiledOperator& one, BuiltCase& built) {
  constexpr std::string_view kSlices[] = {"Slice", "SliceD", "StridedSlice", "StridedSliceD"};
  constexpr std::string_view kSplits[] = {"Split", "SplitD", "SplitV", "SplitVD"};
  constexpr std::string_view kBroadcasts[] = {"BroadcastTo", "BroadcastToD", "Expand",
                                              "ExpandD",     "Tile",         "TileD"};
  const auto is_among = [&](std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), one.type) != names.end();
  };
  const bool is_slice = is_among(kSlices), is_split = is_among(kSplits);
  const bool is_strided = one.type == "AsStrided", is_broadcast = is_among(kBroadcasts);
  const bool is_view = is_slice || is_strided || is_broadcast;
  if (!is_view && !is_split && !is_conversion(one)) return false;
  if (one.inputs.empty() || one.outputs.empty()) {
    built.obstacle = "shapes unknown";
    return true;
  }
  if (is_conversion(one)) {
    build_conversion(one, built);
    return true;
  }
  built.obstacle = obstacle_of(one.inputs[0]);
  if (built.obstacle.empty()) built.obstacle = obstacle_of(one.outputs[0]);
  if (!built.obstacle.empty()) return true;
  if (is_slice) build_slice(one, built);
  if (is_strided) build_strided(one, built);
  if (is_broadcast) build_broadcast(one, built);
  if (is_split) build_split(one, built);
  return true;
}

}  // namespace opbench
