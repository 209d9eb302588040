// stack, unbind, pad, roll and flip like a framework: copies between views, and rows read in
// reverse.
#include <algorithm>
#include <cstring>

#include "kernels/copy/repeat.h"
#include "kernels/copy/strided_copy.h"
#include "kernels/simd/elementwise.h"
#include "ops/movement.h"
#include "ops/rearrange.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// A part of a stack as a part of a concatenation.
TensorDesc with_axis(const TensorDesc& part, std::size_t axis) {
  Dims shape = part.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return with_shape(part, std::move(shape));
}

Launch stack(const Problem& problem) {
  const TensorDesc& whole = problem.outputs[0];
  const std::size_t axis = axis_of("stack", whole.shape, problem.attrs.integer("axis"));
  std::vector<ElementCopy> copies;
  for (const TensorDesc& input : problem.inputs) {
    copies.push_back(copy_into(with_axis(input, axis), whole, axis, std::ssize(copies)));
  }
  return [copies](const KernelArgs& args) {
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i](args.inputs[i], args.outputs[0]);
  };
}

Launch unbind(const Problem& problem) {
  const TensorDesc& whole = problem.inputs[0];
  const std::size_t axis = axis_of("unbind", whole.shape, problem.attrs.integer("axis"));
  std::vector<ElementCopy> copies;
  for (const TensorDesc& output : problem.outputs) {
    copies.push_back(copy_out_of(whole, with_axis(output, axis), axis, std::ssize(copies)));
  }
  return [copies](const KernelArgs& args) {
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i](args.inputs[0], args.outputs[i]);
  };
}

/// A box of one tensor that is copied to a box of another.
struct Box {
  StridedView from, to;

  Box(const Dims& shape, const Dims& result) : from(dense_view(shape)), to(dense_view(result)) {}
  void cut(std::size_t axis, std::int64_t first, std::int64_t place, std::int64_t count,
           std::int64_t step = 1) {
    from = slice(from, static_cast<std::int64_t>(axis), first, count);
    to = slice(to, static_cast<std::int64_t>(axis), place, count, step);
  }
  ElementCopy copy(DType dtype) const { return copy_view(from, to, size_of(dtype)); }
};

// The first bytes of `bits` are the element.
void fill(std::uint64_t bits, std::size_t size, std::int64_t count, void* to) {
  if (size < sizeof(bits)) return repeat_element(&bits, size, count, to);
  std::fill_n(static_cast<std::uint64_t*>(to), count, bits);
}

// Fills the whole output with the border value, then copies the inside.
Launch pad(const Problem& problem) {
  const TensorDesc &x = problem.inputs[0], &y = problem.outputs[0];
  Box inside(x.shape, y.shape);
  const Dims apart = spread_shape(x.shape, problem.attrs);
  const std::vector<Padding> paddings = paddings_of(apart, problem.attrs);
  for (std::size_t i = 0; i < paddings.size(); ++i) {
    const auto [before, after] = paddings[i];
    const std::int64_t step = apart[i] == x.shape[i] ? 1 : problem.attrs.integer("step");
    // The elements of x from the first to behind the last that is kept.
    const std::int64_t first = (std::max<std::int64_t>(0, -before) + step - 1) / step;
    const std::int64_t left = apart[i] - std::max<std::int64_t>(0, -after);
    const std::int64_t end = left <= 0 ? 0 : (left - 1) / step + 1;
    const std::int64_t count = std::max<std::int64_t>(0, end - first);
    if (count == 0) {
      inside.cut(i, 0, 0, 0);
    } else {
      inside.cut(i, first, first * step + before, count, step);
    }
  }
  const double value = problem.attrs.number("value");
  std::uint64_t element = 0;
  from_doubles(x.dtype, &value, 1, &element);
  const bool has_border = y.elements() > element_count(inside.to.shape);
  return [=, copy = inside.copy(x.dtype), size = size_of(x.dtype), elements = y.elements(),
          dtype = x.dtype](const KernelArgs& args) {
    if (has_border) {
      for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
        fill(element, size, end - begin, at(args.outputs[0], dtype, begin));
      });
    }
    copy(args.inputs[0], args.outputs[0]);
  };
}

// For every axis with a shift: the part that stays and the part that moves to the front.
std::vector<Box> boxes_of(const Roll& roll) {
  std::vector<Box> boxes = {Box(roll.shape, roll.shape)};
  for (std::size_t i = 0; i < roll.shape.size(); ++i) {
    const std::int64_t shift = roll.shifts[i], extent = roll.shape[i];
    if (shift == 0) continue;
    std::vector<Box> halves;
    for (const Box& box : boxes) {
      halves.insert(halves.end(), {box, box});
      halves.end()[-2].cut(i, 0, shift, extent - shift);
      halves.end()[-1].cut(i, extent - shift, 0, shift);
    }
    boxes = std::move(halves);
  }
  return boxes;
}

Launch roll(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  std::vector<ElementCopy> copies;
  for (const Box& box : boxes_of(Roll(x.shape, problem.attrs))) copies.push_back(box.copy(x.dtype));
  return [copies](const KernelArgs& args) {
    for (const ElementCopy& copy : copies) copy(args.inputs[0], args.outputs[0]);
  };
}

template <class T>
void copy_reversed(const std::byte* from, std::int64_t count, std::byte* to) {
  const T* const source = reinterpret_cast<const T*>(from);
  std::reverse_copy(source, source + count, reinterpret_cast<T*>(to));
}

// Copies `count` blocks of `bytes` in reverse order.
void reverse_blocks(const std::byte* from, std::int64_t count, std::int64_t bytes, std::byte* to) {
  switch (bytes) {
    case 1:
      return copy_reversed<std::uint8_t>(from, count, to);
    case 2:
      return copy_reversed<std::uint16_t>(from, count, to);
    case 4:
      return copy_reversed<std::uint32_t>(from, count, to);
    case 8:
      return copy_reversed<std::uint64_t>(from, count, to);
    default:
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * bytes, from + (count - 1 - i) * bytes,
                    static_cast<std::size_t>(bytes));
      }
  }
}

/// A flip: lines of `extent` blocks along the last reversed axis, one after the other.
struct Flip {
  Dims shape;  ///< of the axes before
  std::vector<bool> axes;
  std::int64_t extent = 1, bytes;

  explicit Flip(const Problem& problem)
      : shape(problem.inputs[0].shape),
        axes(flipped_axes(shape, problem.attrs)),
        bytes(static_cast<std::int64_t>(size_of(problem.inputs[0].dtype))) {
    while (!shape.empty() && !axes[shape.size() - 1]) {
      bytes *= shape.back();
      shape.pop_back();
    }
    if (shape.empty()) return;
    extent = shape.back();
    shape.pop_back();
  }

  std::int64_t source_of(std::int64_t line) const {
    std::int64_t source = 0, stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      const std::int64_t place = line % shape[i];
      source += (axes[i] ? shape[i] - 1 - place : place) * stride;
      stride *= shape[i];
      line /= shape[i];
    }
    return source;
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t line_bytes = extent * bytes;
    if (line_bytes == 0) return;
    const std::int64_t grain = std::max<std::int64_t>(1, (64 << 10) / line_bytes);
    parallel_ranges(element_count(shape), grain, [&](std::int64_t begin, std::int64_t end) {
      const auto* from = static_cast<const std::byte*>(args.inputs[0]);
      auto* to = static_cast<std::byte*>(args.outputs[0]);
      for (std::int64_t line = begin; line < end; ++line) {
        reverse_blocks(from + source_of(line) * line_bytes, extent, bytes, to + line * line_bytes);
      }
    });
  }
};

Launch flip(const Problem& problem) { return Flip(problem); }

Kernel native(std::string_view op, std::string_view summary,
              Launch (*prepare)(const Problem& problem)) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = summary,
          .prepare = prepare};
}

const RegisteredKernel kKernels[] = {
    RegisteredKernel(native("stack", "each input copied into its slice of the output", stack)),
    RegisteredKernel(native("unbind", "views of the slices, each made contiguous", unbind)),
    RegisteredKernel(native("pad", "filled with the value, then x copied into it", pad)),
    RegisteredKernel(native("roll", "two copies for each axis with a shift", roll)),
    RegisteredKernel(native("flip", "line by line, its blocks in reverse order", flip)),
};

}  // namespace
}  // namespace opbench
