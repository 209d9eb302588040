#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "tensor/tensor.h"

namespace opbench {

using Bytes = std::vector<std::uint8_t>;

/// The position in FRACTAL_Z of groups. Source: format_transfer_fractal_z.cpp of CANN's TransData.
/// e groups share Cin_opt x Cout_opt. There, element (g, n, c, hw) has ci = (g % e) * c_per_group +
/// c and co = (g % e) * n_per_group + n.
inline std::int64_t grouped_position(const TensorDesc& desc, const Dims& nchw, const Dims& at) {
  const std::int64_t c = nchw[1], n = nchw[0] / desc.groups, c0 = desc.c0, hw = nchw[2] * nchw[3];
  const std::int64_t e =
      std::min<std::int64_t>(std::lcm(std::lcm(c, c0) / c, std::lcm(n, 16) / n), desc.groups);
  const std::int64_t c1 = (e * c + c0 - 1) / c0, cout_opt = (e * n + 15) / 16 * 16;
  const std::int64_t g = at[0] / n, ci = g % e * c + at[1], co = g % e * n + at[0] % n;
  return g / e * c1 * hw * cout_opt * c0 + ci / c0 * hw * cout_opt * c0 +
         (at[2] * nchw[3] + at[3]) * cout_opt * c0 + co * c0 + ci % c0;
}

/// FRACTAL_NZ: (..., m, n) -> [..., n / c0, m / 16, m % 16, n % c0].
inline std::int64_t nz_position(Dims dims, Dims at, std::int64_t c0) {
  for (; dims.size() < 2; at.push_back(0)) dims.push_back(1);
  const std::size_t m = dims.size() - 2, n = dims.size() - 1;
  const std::int64_t n1 = (dims[n] + c0 - 1) / c0, m1 = (dims[m] + 15) / 16;
  std::int64_t result = 0;
  for (std::size_t i = 0; i < m; ++i) result = result * dims[i] + at[i];
  result = (result * n1 + at[n] / c0) * m1 + at[m] / 16;
  return (result * 16 + at[m] % 16) * c0 + at[n] % c0;
}

inline std::int64_t position_5d(const TensorDesc& desc, const Dims& dims, const Dims& at) {
  const std::int64_t c0 = desc.c0, c1 = (dims[1] + c0 - 1) / c0, n1 = (dims[0] + 15) / 16;
  const std::int64_t n = at[0], c = at[1], d = at[2], h = at[3], w = at[4];
  switch (desc.format) {
    case Format::NDHWC:
      return (((n * dims[2] + d) * dims[3] + h) * dims[4] + w) * dims[1] + c;
    case Format::NDC1HWC0:
      return ((((n * dims[2] + d) * c1 + c / c0) * dims[3] + h) * dims[4] + w) * c0 + c % c0;
    default:  // FRACTAL_Z_3D
      return (((((d * c1 + c / c0) * dims[3] + h) * dims[4] + w) * n1 + n / 16) * 16 + n % 16) *
                 c0 +
             c % c0;
  }
}

/// The position of the element at the logical indices `at`, one for each extent of the shape, by
/// CANN's format definitions. Sources: FormatHelper.cpp of torch_npu 1.5 and the trans_data
/// operators.
inline std::int64_t position_by_definition(const TensorDesc& desc, Dims at) {
  if (desc.format == Format::FRACTAL_NZ) return nz_position(desc.shape, at, desc.c0);
  if (desc.format == Format::ND || desc.format == Format::NCHW || desc.format == Format::NCDHW) {
    const Dims strides = row_major_strides(desc.shape);
    return std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0});
  }
  if (desc.shape.size() == 5) return position_5d(desc, desc.shape, at);
  const Dims dims = expand_to_nchw(desc.shape);
  if (at.size() < 4) at.insert(at.begin(), 0);  // the expansion puts N first, the others last
  at.resize(4, 0);
  const std::int64_t c0 = desc.c0, c1 = (dims[1] + c0 - 1) / c0;
  const std::int64_t n = at[0], c = at[1], h = at[2], w = at[3];
  switch (desc.format) {
    case Format::NHWC:
      return ((n * dims[2] + h) * dims[3] + w) * dims[1] + c;
    case Format::HWCN:
      return ((h * dims[3] + w) * dims[1] + c) * dims[0] + n;
    case Format::NC1HWC0:
      return (((n * c1 + c / c0) * dims[2] + h) * dims[3] + w) * c0 + c % c0;
    default:
      return grouped_position(desc, dims, at);
  }
}

/// The indices of a logical element.
inline Dims indices_of(const Dims& shape, std::int64_t element) {
  Dims at(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; element /= shape[i]) at[i] = element % shape[i];
  return at;
}

/// The storage of `desc`: `logical` at the positions of the definition, `padding` elsewhere.
inline Bytes stored_by_definition(const TensorDesc& desc, const Bytes& logical,
                                  std::uint8_t padding) {
  const std::size_t size = size_of(desc.dtype);
  Bytes result(desc.bytes(), padding);
  for (std::int64_t i = 0, count = desc.elements(); i < count; ++i) {
    const std::int64_t to = position_by_definition(desc, indices_of(desc.shape, i));
    std::memcpy(&result.at(static_cast<std::size_t>(to) * size),
                &logical.at(static_cast<std::size_t>(i) * size), size);
  }
  return result;
}

/// Every format that can hold `shape`, with every relevant C0 and number of groups.
inline std::vector<TensorDesc> every_storage(DType dtype, const Dims& shape) {
  std::vector<TensorDesc> result;
  for (const Format format : kAllFormats) {
    const bool plain = format == Format::ND || format == Format::FRACTAL_NZ;
    const bool five = format == Format::NCDHW || format == Format::NDHWC ||
                      format == Format::NDC1HWC0 || format == Format::FRACTAL_Z_3D;
    const bool permuted = format == Format::NHWC || format == Format::HWCN;
    const bool fits = five ? shape.size() == 5 : permuted ? shape.size() == 4 : shape.size() <= 4;
    if (!plain && !fits) continue;
    for (const int c0 : is_private(format) ? std::vector{8, 16, 32} : std::vector{16}) {
      for (const int groups : {1, 2, 3, 4, 24}) {
        const std::int64_t n = shape.size() < 4 ? 1 : shape[0];
        if (groups > 1 && (format != Format::FRACTAL_Z || n % groups != 0)) continue;
        result.push_back(describe(dtype, shape, format));
        result.back().c0 = c0;
        result.back().groups = groups;
      }
    }
  }
  return result;
}

/// Shapes of every rank, with odd extents, whole and partial blocks, and extents of 1 and of 0.
inline std::vector<Dims> shapes_of_interest() {
  return {{},
          {21},
          {16},
          {7, 35},
          {21, 3, 5},
          {2, 37, 5, 7},
          {24, 1, 3, 3},
          {24, 16, 1, 1},
          {48, 3, 1, 5},
          {72, 9, 2, 1},
          {6, 40, 3, 3},
          {5, 33, 1, 1},
          {0, 3, 2, 2},
          {4, 0, 3, 3},
          {4, 3, 0, 2},
          {2, 19, 3, 5, 7},
          {17, 5, 2, 1, 3},
          {20, 40, 1, 1, 1},
          {3, 2, 0, 2, 2},
          {2, 1, 3, 17, 9, 2}};
}

}  // namespace opbench
