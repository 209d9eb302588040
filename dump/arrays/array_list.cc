#include "dump/arrays/array_list.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "dump/dump_meaning.h"
#include "tensor/error.h"
#include "tensor/shape.h"

namespace opbench {
namespace {

// Counts the elements from the first to the last accessed one. Empty if the count overflows.
std::optional<std::int64_t> reach(const Dims& shape, const Dims& strides) {
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return 0;
    std::int64_t step = 0;
    if (strides[axis] < 0 || __builtin_mul_overflow(shape[axis] - 1, strides[axis], &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return std::nullopt;
    }
  }
  return last == std::numeric_limits<std::int64_t>::max() ? std::nullopt : std::optional(last + 1);
}

// Strides of 0 repeat elements: a small file can describe a huge dense array.
std::string expansion_problem(std::int64_t dense, std::int64_t stored, std::int64_t bytes) {
  constexpr std::int64_t kHarmless = 1 << 30, kMostTimes = 64;  // bytes, and a factor
  if (dense <= kHarmless / bytes || dense / kMostTimes <= stored) return "";
  return fmt::format("stride: {} elements of the file are repeated to {}, more than {} times",
                     stored, dense, kMostTimes);
}

std::string size_problem(StoredType type, const Dims& shape, const Dims& strides,
                         std::int64_t available) {
  try {
    element_count(shape);
  } catch (const Error& error) {
    return fmt::format("shape: {}", error.what());
  }
  const std::optional<std::int64_t> elements = reach(shape, strides);
  const auto bytes = static_cast<std::int64_t>(size_of(type));
  if (!elements) return "stride: negative or too large";
  if (*elements <= available / bytes)
    return expansion_problem(element_count(shape), *elements, bytes);
  return fmt::format("data: shape {} needs {} elements of {}, {} bytes are there", to_string(shape),
                     *elements, numpy_name(type), available);
}

}  // namespace

Dims column_major_strides(const Dims& shape) {
  Dims strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = step;
    step *= shape[axis] == 0 ? 1 : shape[axis];
  }
  return strides;
}

void ArrayList::add(const std::string& name, StoredType type, const Dims& shape,
                    const Dims& strides, const ArrayPlace& place, std::int64_t available) {
  DumpEntry entry;
  entry.name = name;
  entry.path = name;
  entry.kind = EntryKind::tensor;
  entry.stored = type;
  entry.stored_name = numpy_name(type);
  entry.format = Format::ND;
  entry.problem = size_problem(type, shape, strides, available);
  if (entry.problem.empty()) {
    entry.desc = describe(dtype_of(type), shape);
    entry.is_strided = !is_contiguous({shape, strides, 0});
    entry.attributes.stride = strides;
  }
  entries.push_back(std::move(entry));
  places.push_back(place);
}

void ArrayList::add_problem(const std::string& name, const std::string& problem) {
  DumpEntry entry;
  entry.name = name;
  entry.path = name;
  entry.problem = problem;
  entries.push_back(std::move(entry));
  places.emplace_back();
}

}  // namespace opbench
