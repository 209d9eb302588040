#include "ops/movement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tensor/error.h"

namespace opbench {
namespace {

// Reads elements `range` of an input as `dtype`.
void read_as(DType dtype, const InputReader& input, ElementRange range, void* to) {
  if (input.desc().dtype == dtype) return input.read_bits(range, to);
  thread_local std::vector<double> values;
  values.resize(static_cast<std::size_t>(range.count));
  input.read(range, values);
  from_doubles(dtype, values.data(), range.count, to);
}

}  // namespace

IndexedLines indexed_along(const AxisView& view, std::int64_t places, bool are_distinct) {
  return {view.outer, view.extent, places, view.inner, are_distinct};
}

Reference elements_of(std::vector<std::vector<double>> values) {
  return
      [values = std::move(values)](std::size_t output, ElementRange range, std::span<double> to) {
        std::copy_n(values[output].begin() + range.first, range.count, to.begin());
      };
}

ExactReference moved(std::span<const InputReader> inputs, SourceMap source) {
  return moved(inputs, inputs.front().desc().dtype, std::move(source));
}

ExactReference moved(std::span<const InputReader> inputs, DType dtype, SourceMap source) {
  return [inputs = std::vector<InputReader>(inputs.begin(), inputs.end()), dtype,
          source = std::move(source)](std::size_t output, ElementRange range, void* to) {
    auto* out = static_cast<std::byte*>(to);
    for (std::int64_t done = 0; done < range.count;) {
      SourceRun run = source(output, range.first + done);
      run.count = std::min(run.count, range.count - done);
      const std::size_t moved_bytes = static_cast<std::size_t>(run.count) * size_of(dtype);
      if (run.input == SourceRun::kZeros) {
        std::memset(out, 0, moved_bytes);
      } else {
        read_as(dtype, inputs[run.input], {run.first, run.count}, out);
      }
      out += moved_bytes;
      done += run.count;
    }
  };
}

SourceMap viewed(StridedView view, std::size_t input) {
  const bool has_runs = !view.shape.empty() && view.strides.back() == 1;
  return [view = std::move(view), input, has_runs](std::size_t, std::int64_t element) {
    SourceRun run{input, view.offset, 1};
    if (has_runs) run.count = view.shape.back() - element % view.shape.back();
    for (std::size_t axis = view.shape.size(); axis-- > 0;) {
      run.first += element % view.shape[axis] * view.strides[axis];
      element /= view.shape[axis];
    }
    return run;
  };
}

TensorDesc with_shape(const TensorDesc& like, Dims shape) {
  const bool is_plain = like.format == like.origin;
  const Format format = is_plain ? origin_format(shape.size()) : like.format;
  TensorDesc desc = describe(like.dtype, std::move(shape), format);
  desc.c0 = like.c0;
  return desc;
}

Attrs attrs_with(std::string_view op,
                 std::span<const std::pair<std::string_view, AttrValue>> values) {
  Attrs attrs(find_op(op).attrs);
  for (const auto& [name, value] : values) attrs.put(name, value);
  return attrs;
}

Traffic movement_traffic(const Problem& problem) {
  Traffic traffic;
  for (const TensorDesc& input : problem.inputs) traffic.bytes_read += double(input.bytes());
  for (const TensorDesc& output : problem.outputs) traffic.bytes_written += double(output.bytes());
  return traffic;
}

std::size_t axis_of(std::string_view op, const Dims& shape, std::int64_t axis) {
  const std::int64_t rank = std::ssize(shape);
  const std::int64_t from_front = axis < 0 ? axis + rank : axis;
  if (from_front >= 0 && from_front < rank) return static_cast<std::size_t>(from_front);
  throw Error(fmt::format("{}: axis {} is out of range for shape {}; allowed: {} to {}", op, axis,
                          to_string(shape), -rank, rank - 1));
}

AxisView::AxisView(const Dims& shape, std::size_t axis) : extent(shape[axis]) {
  for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
}

std::vector<ComposedCall> dense_parts(const ComposedArg& whole, const Dims& shape,
                                      const std::vector<std::int64_t>& sizes, std::int64_t axis) {
  if (axis < 0) axis += std::ssize(shape);
  std::vector<ComposedCall> calls;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::pair<std::string_view, AttrValue> view[] = {
        {"view", fmt::format("slice({},{},{})", axis, start, sizes[i])}};
    calls.push_back(
        {"contiguous", {whole}, attrs_with("contiguous", view), fmt::format("contiguous{}", i), i});
    start += sizes[i];
  }
  return calls;
}

}  // namespace opbench
