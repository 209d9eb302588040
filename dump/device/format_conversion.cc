#include "dump/device/format_conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "dump/strided_read.h"
#include "tensor/element_map.h"
#include "tensor/elements.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Axes of the plain formats. The first of each rank is the order of logical shapes.
struct Order {
  Format format;
  std::string_view axes;
};
constexpr std::array kOrders = {Order{Format::NCHW, "NCHW"}, Order{Format::NHWC, "NHWC"},
                                Order{Format::HWCN, "HWCN"}, Order{Format::NCDHW, "NCDHW"},
                                Order{Format::NDHWC, "NDHWC"}};

std::string_view axes_of(Format format) {
  const auto found = std::find_if(kOrders.begin(), kOrders.end(),
                                  [&](const Order& order) { return order.format == format; });
  return found == kOrders.end() ? std::string_view() : found->axes;
}

// Reorders extents from axes `from` to axes `to`.
Dims reordered(const Dims& shape, std::string_view from, std::string_view to) {
  Dims result;
  for (const char axis : to) result.push_back(shape[from.find(axis)]);
  return result;
}

// NCHW and similar formats with another rank are treated as ND.
Format effective(Format format, std::size_t rank) {
  const std::string_view axes = axes_of(format);
  return axes.empty() || axes.size() == rank ? format : Format::ND;
}

// The conversion only moves bytes, so any dtype of the element size works.
DType dtype_of_size(std::size_t bytes, Format format) {
  switch (bytes) {
    case 1:
      return DType::int8;
    case 2:
      return DType::int16;
    case 4:
      return DType::int32;
    case 8:
      return DType::int64;
    default:
      throw Error(
          fmt::format("data_type: elements of {} bytes have no format {}", bytes, name(format)));
  }
}

class FormatConversion {
 public:
  FormatConversion(const StoredTensor& tensor, const void* elements, Format target)
      : tensor_(tensor),
        bytes_(size_of(tensor.type)),
        elements_(static_cast<const std::byte*>(elements)),
        source_(effective(tensor.format, tensor.shape.size())),
        target_(is_private(source_) || is_private(target)
                    ? target
                    : effective(target, tensor.shape.size())) {}

  ConvertedTensor run() {
    if (source_ == target_) return same();
    if (source_ == Format::FRACTAL_NZ) return matrix();
    if (is_private(source_)) return unpacked();
    const std::string_view from = axes_of(source_), to = axes_of(target_);
    if (from.size() == 4 && target_ == Format::FRACTAL_Z) return packed(from);
    if (from.size() == 4 && to.size() == 4) {
      return permuted(elements_, tensor_.shape, from, to, target_);
    }
    refuse();
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error(fmt::format("format: no conversion from {} of shape {} to {}", name(source_),
                            to_string(tensor_.shape), name(target_)));
  }

  [[noreturn]] void refuse_shape(const std::string& allowed) const {
    throw Error(fmt::format("original_shape: {} does not fit {} of shape {}; {}",
                            to_string(tensor_.target_shape), name(source_),
                            to_string(tensor_.shape), allowed));
  }

  std::vector<std::byte> room(const Dims& shape) const {
    return std::vector<std::byte>(static_cast<std::size_t>(element_count(shape)) * bytes_);
  }

  ConvertedTensor same() const {
    ConvertedTensor result{target_, tensor_.shape, room(tensor_.shape)};
    if (!result.elements.empty()) {
      std::memcpy(result.elements.data(), elements_, result.elements.size());
    }
    if (is_private(target_) || tensor_.target_shape.empty()) return result;
    if (element_count(tensor_.target_shape) != element_count(tensor_.shape)) {
      refuse_shape("as many elements are needed");
    }
    result.shape = tensor_.target_shape;
    return result;
  }

  ConvertedTensor permuted(const std::byte* from_elements, const Dims& shape, std::string_view from,
                           std::string_view to, Format format) const {
    ConvertedTensor result{format, reordered(shape, from, to), room(shape)};
    read_strided(
        result.shape, reordered(row_major_strides(shape), from, to),
        {0, element_count(result.shape)}, bytes_,
        [&](ElementRange places, void* piece) {
          std::memcpy(piece, from_elements + static_cast<std::size_t>(places.first) * bytes_,
                      static_cast<std::size_t>(places.count) * bytes_);
        },
        result.elements.data());
    return result;
  }

  TensorDesc described(Format format, const Dims& logical, int c0) const {
    TensorDesc desc;
    desc.dtype = dtype_of_size(bytes_, format);
    desc.shape = logical;
    desc.origin = format == Format::FRACTAL_NZ ? Format::ND : origin_format_of(format);
    desc.format = format;
    desc.c0 = c0;
    desc.groups = format == Format::FRACTAL_Z ? tensor_.groups : 1;
    return desc;
  }

  int stored_c0() const {
    constexpr std::int64_t kLargestC0 = 4096;
    const std::int64_t c0 = tensor_.shape.empty() ? 0 : tensor_.shape.back();
    if (c0 >= 1 && c0 <= kLargestC0) return static_cast<int>(c0);
    throw Error(fmt::format("shape: {} is not a shape of {}; the last extent must be 1 to {}",
                            to_string(tensor_.shape), name(source_), kLargestC0));
  }

  std::vector<std::byte> logical_elements(const TensorDesc& desc) const {
    std::vector<std::byte> result = room(desc.shape);
    read_elements(desc, elements_, {0, desc.elements()}, result.data());
    return result;
  }

  // Converts [.., K1, M1, 16, K0] to [.., M, K].
  ConvertedTensor matrix() const {
    const Dims& stored = tensor_.shape;
    const bool is_known = target_ == Format::ND || axes_of(target_).size() == 4;
    if (!is_known) refuse();
    if (stored.size() < 4 || stored[stored.size() - 2] != kFractalRows) {
      throw Error(
          fmt::format("shape: {} is not a shape of FRACTAL_NZ; expected [.., K1, M1, 16, K0]",
                      to_string(stored)));
    }
    const int c0 = stored_c0();
    const std::size_t batch = stored.size() - 4;
    Dims padded(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(batch));
    padded.push_back(stored[batch + 1] * kFractalRows);
    padded.push_back(element_count({stored[batch], c0}));
    if (!fits_matrix(padded, c0)) {
      refuse_shape(fmt::format("[..] {} without up to 15 rows and {} columns of padding",
                               to_string(padded), c0 - 1));
    }
    const Dims& wanted = tensor_.target_shape;
    Dims logical = wanted.empty() ? padded : wanted;
    while (logical.size() < 2) logical.insert(logical.begin(), 1);
    // Leading extents are the stored ones, even if the target shape has others.
    const Dims rows_and_columns(logical.end() - 2, logical.end());
    Dims dense(padded.begin(), padded.end() - 2);
    dense.insert(dense.end(), rows_and_columns.begin(), rows_and_columns.end());
    const TensorDesc desc = described(Format::FRACTAL_NZ, dense, c0);
    return {target_, wanted.empty() ? padded : wanted, logical_elements(desc)};
  }

  bool fits_matrix(const Dims& padded, int c0) const {
    Dims wanted = tensor_.target_shape;
    if (wanted.empty()) return true;
    while (wanted.size() < 2) wanted.insert(wanted.begin(), 1);
    const auto fits = [](std::int64_t wanted_extent, std::int64_t extent, std::int64_t block) {
      return wanted_extent <= extent && wanted_extent > extent - block;
    };
    const Dims before(wanted.begin(), wanted.end() - 2);
    const Dims stored_before(padded.begin(), padded.end() - 2);
    return fits(wanted[wanted.size() - 2], padded[padded.size() - 2], kFractalRows) &&
           fits(wanted.back(), padded.back(), c0) &&
           element_count(before) == element_count(stored_before);
  }

  // Converts NC1HWC0, FRACTAL_Z and NDC1HWC0 to plain formats.
  ConvertedTensor unpacked() const {
    const std::size_t rank = source_ == Format::NDC1HWC0 ? 5 : 4;
    const Format origin = origin_format_of(source_);
    const Format target = target_ == Format::ND ? origin : target_;
    const std::string_view from = axes_of(origin), to = axes_of(target);
    if (source_ == Format::FRACTAL_Z_3D || to.size() != rank) refuse();
    const int c0 = stored_c0();
    const TensorDesc desc = described(source_, logical_shape(target, c0), c0);
    std::vector<std::byte> elements = logical_elements(desc);
    if (target == origin) return {target_, desc.shape, std::move(elements)};
    return permuted(elements.data(), desc.shape, from, to, target_);
  }

  // Returns the shape in the order of the origin. The target shape may have its axes in any order:
  // the stored shape gives N, H, W exactly and C to within C0.
  Dims logical_shape(Format target, int c0) const {
    const Dims& wanted = tensor_.target_shape;
    if (wanted.empty()) return padded_shape();
    const std::string_view logical = axes_of(origin_format_of(source_));
    if (wanted.size() != logical.size()) {
      refuse_shape(fmt::format("{} extents are needed", logical.size()));
    }
    std::vector<std::string_view> orders = {axes_of(target)};
    for (const Order& order : kOrders) {
      if (order.axes.size() == logical.size()) orders.push_back(order.axes);
    }
    for (const std::string_view order : orders) {
      const Dims shape = reordered(wanted, order, logical);
      if (is_stored_so(shape, c0)) return shape;
    }
    refuse_shape("no order of its axes gives the stored shape");
  }

  bool is_stored_so(const Dims& shape, int c0) const {
    try {
      return described(source_, shape, c0).storage() == tensor_.shape;
    } catch (const Error&) {
      return false;
    }
  }

  // Returns the shape with its padding, if it can be derived.
  Dims padded_shape() const {
    const Dims& stored = tensor_.shape;
    if (source_ == Format::NC1HWC0 && stored.size() == 5) {
      return {stored[0], element_count({stored[1], stored[4]}), stored[2], stored[3]};
    }
    if (source_ == Format::NDC1HWC0 && stored.size() == 6) {
      return {stored[0], element_count({stored[2], stored[5]}), stored[1], stored[3], stored[4]};
    }
    throw Error(
        fmt::format("original_shape: missing, and {} of shape {} does not determine it; -s "
                    "gives one",
                    name(source_), to_string(stored)));
  }

  ConvertedTensor packed(std::string_view from) const {
    const Dims logical = reordered(tensor_.shape, from, axes_of(Format::NCHW));
    const TensorDesc desc =
        described(Format::FRACTAL_Z, logical, default_c0(dtype_of_size(bytes_, Format::FRACTAL_Z)));
    ConvertedTensor result{target_, desc.storage(), room(desc.storage())};
    const ConvertedTensor plain =
        permuted(elements_, tensor_.shape, from, axes_of(Format::NCHW), Format::NCHW);
    write_elements(desc, result.elements.data(), {0, desc.elements()}, plain.elements.data());
    return result;
  }

  const StoredTensor& tensor_;
  std::size_t bytes_;
  const std::byte* elements_;
  Format source_, target_;
};

}  // namespace

ConvertedTensor convert_format(const StoredTensor& tensor, const void* elements, Format target) {
  return FormatConversion(tensor, elements, target).run();
}

}  // namespace opbench
