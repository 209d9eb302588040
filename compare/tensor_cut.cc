#include "compare/tensor_cut.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tensor/elements.h"

namespace opbench {
namespace {

/// Copies the kept elements, axis by axis, the last axis in runs.
class Gathering {
 public:
  Gathering(const TensorCut& cut, std::size_t width, const std::byte* from, std::byte* to)
      : cut_(cut), width_(width), from_(from), to_(to), strides_(cut.view.size(), 1) {
    for (std::size_t axis = cut.view.size(); axis-- > 1;) {
      strides_[axis - 1] = strides_[axis] * cut.view[axis];
    }
  }

  // The destination must contain the fill value at kFilled.
  void run(std::size_t axis = 0, std::int64_t at = 0, bool is_there = true) {
    if (axis == cut_.view.size()) return copy(at, 1, is_there);
    const std::optional<Places>& places = cut_.axes[axis];
    const bool is_last = axis + 1 == cut_.view.size();
    if (!places && is_last) return copy(at, cut_.view[axis], is_there);
    const std::int64_t count = places ? std::ssize(*places) : cut_.view[axis];
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = places ? (*places)[static_cast<std::size_t>(i)] : i;
      run(axis + 1, at + place * strides_[axis], is_there && place != kFilled);
    }
  }

 private:
  void copy(std::int64_t at, std::int64_t count, bool is_there) {
    const std::size_t bytes = static_cast<std::size_t>(count) * width_;
    if (is_there) std::memcpy(to_, from_ + static_cast<std::size_t>(at) * width_, bytes);
    to_ += bytes;
  }

  const TensorCut& cut_;
  std::size_t width_;
  const std::byte* from_;
  std::byte* to_;
  Dims strides_;
};

std::vector<std::byte> dense(const Tensor& tensor) {
  std::vector<std::byte> elements(static_cast<std::size_t>(tensor.desc.elements()) *
                                  size_of(tensor.desc.dtype));
  read_elements(tensor.desc, tensor.data(), {0, tensor.desc.elements()}, elements.data());
  return elements;
}

void fill_with(DType dtype, double value, std::vector<std::byte>& elements) {
  const std::size_t width = size_of(dtype);
  std::vector<std::byte> one(width);
  from_doubles(dtype, &value, 1, one.data());
  for (std::size_t at = 0; at < elements.size(); at += width) {
    std::memcpy(elements.data() + at, one.data(), width);
  }
}

// Returns false if a number refers to a removed place.
bool renumber(const Renumbering& renumbering, DType dtype, std::int64_t count, void* elements) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  to_doubles(dtype, elements, count, numbers.data());
  for (double& number : numbers) {
    const auto whole = static_cast<std::int64_t>(number);
    const std::int64_t place = whole < 0 ? whole + renumbering.extent : whole;
    const auto found = std::lower_bound(renumbering.kept.begin(), renumbering.kept.end(), place);
    if (found == renumbering.kept.end() || *found != place) return false;
    number = static_cast<double>(found - renumbering.kept.begin());
  }
  from_doubles(dtype, numbers.data(), count, elements);
  return true;
}

}  // namespace

TensorCut TensorCut::all_of(const Dims& shape) {
  return {shape, std::vector<std::optional<Places>>(shape.size()), shape, 0, std::nullopt};
}

void TensorCut::keep(std::size_t axis, Places places) {
  shape[axis] = std::ssize(places);
  axes[axis] = std::move(places);
}

std::optional<Tensor> cut_tensor(const Tensor& from, const TensorCut& cut, const TensorDesc& to) {
  const std::size_t width = size_of(to.dtype);
  const std::int64_t count = to.elements();
  std::vector<std::byte> rest(static_cast<std::size_t>(count) * width);
  if (cut.fill != 0) fill_with(to.dtype, cut.fill, rest);
  const bool is_plain = from.desc.format == from.desc.origin;
  const std::vector<std::byte> unpacked = is_plain ? std::vector<std::byte>() : dense(from);
  Gathering(cut, width, is_plain ? from.as<const std::byte>() : unpacked.data(), rest.data()).run();
  if (cut.renumbering && !renumber(*cut.renumbering, to.dtype, count, rest.data())) {
    return std::nullopt;
  }
  Tensor result(to);
  write_elements(to, result.data(), {0, count}, rest.data());
  return result;
}

Places places_from(std::int64_t first, std::int64_t count) {
  Places places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), first);
  return places;
}

}  // namespace opbench
