#include "harness/profile/moved_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tensor/error.h"

namespace opbench {
namespace {

// Why a tensor cannot be an operand; empty if it can.
std::string obstacle_of(const ProfiledTensor& tensor) {
  if (!tensor.problem.empty()) return tensor.problem;
  if (tensor.logical) return {};
  return fmt::format("what {} of {} means is not known", name(tensor.format),
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
  // The plain side shows what the other one means.
  if (!x.logical || x.is_upper_bound) x.logical = y.is_upper_bound ? x.logical : y.logical;
  built.obstacle = obstacle_of(x);
  if (!built.obstacle.empty()) return;
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

// The only axis in which the shapes differ; the rank where it is none or several.
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

void build_slice(const ProfiledOperator& one, BuiltCase& built) {
  const Dims& x = *one.inputs[0].logical;
  const Dims& y = *one.outputs[0].logical;
  const std::size_t axis = other_axis(x, y);
  if (axis == x.size()) {
    built.obstacle = "where it begins and ends is not known";
    return;
  }
  Case c = one_input("contiguous", one.inputs[0]);
  c.format = origin_format(x.size());
  c.attrs.set(c.op->attrs, "view", fmt::format("slice({},0,{})", axis, y[axis]));
  problem_of(c);
  built.are_attrs_known = false;
  built.notes.emplace_back("attributes unknown: taken from the first element on");
  built.spec = std::move(c);
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
      built.obstacle = "where it is cut is not known";
      return;
    }
    sizes.push_back((*y.logical)[axis]);
  }
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
  const auto is_among = [&](std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), one.type) != names.end();
  };
  const bool is_slice = is_among(kSlices), is_split = is_among(kSplits);
  if (!is_slice && !is_split && !is_conversion(one)) return false;
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
  is_slice ? build_slice(one, built) : build_split(one, built);
  return true;
}

}  // namespace opbench
