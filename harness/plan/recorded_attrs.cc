#include "harness/plan/recorded_attrs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <variant>

#include "harness/plan/recorded_entries.h"

namespace opbench {
namespace {

// Formats a number like an attribute: whole numbers have no point.
std::string number_text(double value) { return fmt::format("{}", value); }

std::string value_text(const AttrSpec& spec, const std::vector<double>& numbers) {
  if (std::holds_alternative<std::vector<std::int64_t>>(spec.default_value)) {
    std::vector<std::string> all;
    for (const double number : numbers) all.push_back(number_text(number));
    return fmt::format("[{}]", fmt::join(all, ","));
  }
  if (numbers.size() != 1) {
    throw Unfit(fmt::format("{} numbers are recorded for '{}'", numbers.size(), spec.name));
  }
  if (std::holds_alternative<bool>(spec.default_value)) return numbers[0] != 0 ? "true" : "false";
  return number_text(numbers[0]);
}

// ATen passes a word as its index in an enumeration.
std::string word_of(const std::vector<std::string>& words, const std::vector<double>& numbers,
                    std::string_view name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (numbers == std::vector<double>{double(i)}) return words[i];
  }
  throw Unfit(
      fmt::format("'{}' is {}; known: 0 to {}", name, fmt::join(numbers, ","), words.size() - 1));
}

std::string shape_text(const Dims& shape, std::size_t last) {
  const auto from = shape.end() - static_cast<std::ptrdiff_t>(std::min(last, shape.size()));
  return fmt::format("[{}]", fmt::join(from, shape.end(), ","));
}

// An operator that makes no int32 made int4, eight in each of the numbers.
std::string dtype_text(const AttrSpec& spec, DType dtype) {
  const auto is_allowed = [&](DType one) {
    return spec.problem == nullptr || spec.problem(std::string(name(one))).empty();
  };
  const bool is_packed =
      dtype == DType::int32 && !is_allowed(DType::int32) && is_allowed(DType::int4);
  return std::string(name(is_packed ? DType::int4 : dtype));
}

// Negative recorded axes count from the last axis.
std::size_t axis_in(std::size_t rank, double recorded) {
  const double axis = recorded < 0 ? recorded + double(rank) : recorded;
  if (axis < 0 || axis >= double(rank)) {
    throw Unfit(fmt::format("axis {} is recorded for {} axes", recorded, rank));
  }
  return static_cast<std::size_t>(axis);
}

}  // namespace

std::vector<double> RecordedAttrs::numbers(const DumpEntry& entry) const {
  if (!entry.problem.empty()) throw Unfit(fmt::format("{}: {}", entry.path, entry.problem));
  if (entry.desc.elements() > kMostNumbers) {
    throw Unfit(fmt::format("{} has {} numbers", entry.path, entry.desc.elements()));
  }
  return read_(entry);
}

// Empty: not recorded.
std::vector<double> RecordedAttrs::numbers_called(const std::string& name) const {
  const DumpEntry* found = entry_called(record_, Side::input, name);
  return found == nullptr ? std::vector<double>{} : numbers(*found);
}

double RecordedAttrs::number_called(const std::string& name) const {
  const std::vector<double> all = numbers_called(name);
  if (all.size() != 1) throw Unfit(fmt::format("'{}' is not recorded", name));
  return all[0];
}

std::string RecordedAttrs::kept_text(Dims shape, const AttrSource& source) const {
  const std::vector<double> axes = numbers_called(source.along);
  if (axes.empty()) shape.assign(shape.size(), 1);
  for (const double axis : axes) shape[axis_in(shape.size(), axis)] = 1;
  return shape_text(shape, shape.size());
}

// Extents of results, or of inputs.
std::string RecordedAttrs::extents_text(const AttrSource& source) const {
  std::string name = source.from.names.at(0);
  name.pop_back();
  const double axis = number_called(source.along);
  std::vector<std::int64_t> extents;
  for (int i = 0;; ++i) {
    const DumpEntry* found = entry_called(record_, Side::output, name + std::to_string(i));
    if (found == nullptr) break;
    const Dims& shape = found->desc.shape;
    extents.push_back(shape[axis_in(shape.size(), axis)]);
  }
  return fmt::format("[{}]", fmt::join(extents, ","));
}

// Borders before and after the first input, from the last axis on.
std::string RecordedAttrs::borders_text(const OpUse& use, const Dims& whole,
                                        const AttrSource& source) const {
  const Dims inner = shape_of(use, 0, tensor_of(record_, Side::input, use.inputs.at(0)));
  const std::size_t axis = axis_in(whole.size(), number_called(source.along));
  if (inner.size() != whole.size()) throw Unfit("a part has other axes than the whole");
  double start = number_called(source.start);
  if (start < 0) start = std::max(0.0, start + double(whole[axis]));
  const auto before = static_cast<std::int64_t>(std::min(start, double(whole[axis])));
  const std::int64_t step =
      source.step.empty() ? 1 : static_cast<std::int64_t>(number_called(source.step));
  const std::int64_t places = inner[axis] == 0 ? 0 : (inner[axis] - 1) * step + 1;
  std::vector<std::int64_t> borders(2 * (whole.size() - axis), 0);
  borders[borders.size() - 2] = before;
  borders[borders.size() - 1] = whole[axis] - before - places;
  return fmt::format("[{}]", fmt::join(borders, ","));
}

// Without the scale factor of the call, the source positions are known for whole multiples only.
std::string RecordedAttrs::whole_plane_text(const OpUse& use, const Dims& plane) const {
  const Dims x = shape_of(use, 0, tensor_of(record_, Side::input, use.inputs.at(0)));
  for (std::ptrdiff_t i = 1; i <= 2; ++i) {
    if (std::ssize(x) < i || std::ssize(plane) < i) throw Unfit("the tensor has no plane");
    const auto [less, more] = std::minmax(x.end()[-i], plane.end()[-i]);
    if (less == 0 || more % less != 0) throw Unfit("the scale factor is not recorded");
  }
  return shape_text(plane, 2);
}

// The shape in which input `i` is taken.
Dims RecordedAttrs::shape_of(const OpUse& use, std::size_t i, const DumpEntry& entry) const {
  Dims shape = entry.desc.shape;
  if (i >= use.inputs.size()) return shape;
  const RecordedName& wanted = use.inputs[i];
  if (wanted.axes > 0 && wanted.axes != shape.size()) {
    throw Unfit(
        fmt::format("'{}' must have {} axes, found {}", entry.name, wanted.axes, shape.size()));
  }
  if (!wanted.new_axis.empty()) {
    const std::size_t axis = axis_in(shape.size() + 1, number_called(wanted.new_axis));
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  }
  return shape;
}

// Empty: not recorded.
std::optional<std::string> RecordedAttrs::attr_text(const OpUse& use, const AttrSpec& spec,
                                                    const AttrSource& source) const {
  if (source.kind == AttrSource::constant) return source.constant_text;
  if (source.kind == AttrSource::recorded || source.kind == AttrSource::complement ||
      source.kind == AttrSource::negated) {
    const DumpEntry* found = find_entry(record_, Side::input, source.from);
    if (found == nullptr) return std::nullopt;
    std::vector<double> values = numbers(*found);
    if (!source.words.empty()) return word_of(source.words, values, found->name);
    if (source.kind == AttrSource::complement) {
      for (double& value : values) value = 1 - value;
    }
    if (source.kind == AttrSource::negated) {
      for (double& value : values) value = 0 - value;
    }
    return value_text(spec, values);
  }
  if (source.kind == AttrSource::extents) return extents_text(source);
  const DumpEntry* of = find_entry(record_, Side::input, source.from);
  if (of == nullptr) of = find_entry(record_, Side::output, source.from);
  if (of == nullptr) {
    throw Unfit(fmt::format("{} is not recorded", fmt::join(source.from.names, " or ")));
  }
  if (source.kind == AttrSource::dtype) return dtype_text(spec, of->desc.dtype);
  if (source.kind == AttrSource::kept) return kept_text(of->desc.shape, source);
  if (source.kind == AttrSource::borders) return borders_text(use, of->desc.shape, source);
  if (source.kind == AttrSource::whole_plane) return whole_plane_text(use, of->desc.shape);
  if (source.kind == AttrSource::rows) {
    return of->desc.shape.empty() ? "1" : std::to_string(of->desc.shape[0]);
  }
  return shape_text(of->desc.shape, source.kind == AttrSource::plane ? 2 : of->desc.shape.size());
}

// Numbers of a call on fp64 or whole numbers are not rounded to fp32, unlike those of a case.
Attrs RecordedAttrs::of(const OpUse& use, DType dtype) const {
  Attrs attrs(use.op->attrs);
  for (const auto& [attr, source] : use.attrs) {
    const auto spec = std::find_if(use.op->attrs.begin(), use.op->attrs.end(),
                                   [&name = attr](const AttrSpec& s) { return s.name == name; });
    const std::optional<std::string> text = attr_text(use, *spec, source);
    if (text) attrs.set(use.op->attrs, attr, *text);
    const bool is_number = std::holds_alternative<double>(spec->default_value);
    if (text && is_number && (dtype == DType::fp64 || !is_floating(dtype)))
      attrs.put(attr, std::strtod(text->c_str(), nullptr));
    const bool is_needed = std::find(use.needs.begin(), use.needs.end(), attr) != use.needs.end();
    if (!text && is_needed) throw Unfit(fmt::format("'{}' is not recorded", attr));
  }
  return attrs;
}

}  // namespace opbench
