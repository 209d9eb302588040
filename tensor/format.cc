#include "tensor/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>

#include "tensor/error.h"

namespace opbench {
namespace {

struct Spelling {
  Format format;
  std::string_view name;
  std::string_view short_name;
};

constexpr std::array<Spelling, kAllFormats.size()> kSpellings = {{
    {Format::NCHW, "NCHW", ""},
    {Format::NHWC, "NHWC", ""},
    {Format::ND, "ND", ""},
    {Format::NC1HWC0, "NC1HWC0", "5HD"},
    {Format::FRACTAL_Z, "FRACTAL_Z", "FZ"},
    {Format::HWCN, "HWCN", ""},
    {Format::NDHWC, "NDHWC", ""},
    {Format::FRACTAL_NZ, "FRACTAL_NZ", "NZ"},
    {Format::NCDHW, "NCDHW", ""},
    {Format::NDC1HWC0, "NDC1HWC0", "6HD"},
    {Format::FRACTAL_Z_3D, "FRACTAL_Z_3D", ""},
}};

std::string allowed() {
  std::string names;
  for (const Spelling& s : kSpellings) {
    names += fmt::format("{}{}{}{} ({})", names.empty() ? "" : ", ", s.name,
                         s.short_name.empty() ? "" : "|", s.short_name,
                         static_cast<std::int32_t>(s.format));
  }
  return names;
}

std::int64_t blocks(std::int64_t extent, std::int64_t block) {
  return extent / block + (extent % block != 0 ? 1 : 0);
}

void require_rank(Format format, const Dims& logical, std::size_t rank) {
  if (logical.size() == rank) return;
  throw Error(fmt::format("{} needs {} extents, not {}: {}", name(format), rank, logical.size(),
                          to_string(logical)));
}

Dims fractal_nz(Dims dims, std::int64_t c0) {
  if (dims.size() < 2) dims.resize(2, 1);
  const std::int64_t m = dims[dims.size() - 2], n = dims.back();
  dims.resize(dims.size() - 2);
  dims.insert(dims.end(), {blocks(n, c0), blocks(m, kFractalRows), kFractalRows, c0});
  return dims;
}

Dims fractal_z(const Dims& dims, int c0, int groups) {
  const FractalGroups packed = fractal_groups(dims[0], dims[1], groups, c0);
  return {element_count({packed.blocks, packed.c1, dims[2], dims[3]}), packed.n1, kFractalRows, c0};
}

Dims stored_4d(Format format, const Dims& logical, int c0, int groups) {
  const Dims dims = expand_to_nchw(logical);
  switch (format) {
    case Format::NCHW:
      return dims;
    case Format::NC1HWC0:
      return {dims[0], blocks(dims[1], c0), dims[2], dims[3], c0};
    default:
      return fractal_z(dims, c0, groups);
  }
}

Dims stored_5d(Format format, const Dims& dims, std::int64_t c0) {
  require_rank(format, dims, 5);
  const std::int64_t n = dims[0], c = dims[1], d = dims[2], h = dims[3], w = dims[4];
  switch (format) {
    case Format::NCDHW:
      return dims;
    case Format::NDHWC:
      return {n, d, h, w, c};
    case Format::NDC1HWC0:
      return {n, d, blocks(c, c0), h, w, c0};
    default:
      return {element_count({d, blocks(c, c0), h, w}), blocks(n, kFractalRows), kFractalRows, c0};
  }
}

Dims stored(Format format, const Dims& logical, int c0, int groups) {
  switch (format) {
    case Format::ND:
      return logical;
    case Format::FRACTAL_NZ:
      return fractal_nz(logical, c0);
    case Format::NHWC:
      require_rank(format, logical, 4);
      return {logical[0], logical[2], logical[3], logical[1]};
    case Format::HWCN:
      require_rank(format, logical, 4);
      return {logical[2], logical[3], logical[1], logical[0]};
    case Format::NCHW:
    case Format::NC1HWC0:
    case Format::FRACTAL_Z:
      return stored_4d(format, logical, c0, groups);
    default:
      return stored_5d(format, logical, c0);
  }
}

}  // namespace

std::string_view name(Format format) {
  for (const Spelling& s : kSpellings) {
    if (s.format == format) return s.name;
  }
  return "unknown";
}

Format parse_format(std::string_view text) {
  std::int32_t number = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && stop == text.data() + text.size();
  for (const Spelling& s : kSpellings) {
    if (is_number && static_cast<std::int32_t>(s.format) == number) return s.format;
    if (!text.empty() && (text == s.name || text == s.short_name)) return s.format;
  }
  throw Error(
      fmt::format("format '{}' is unknown; allowed, by name or number: {}", text, allowed()));
}

Format origin_format(std::size_t rank) {
  return rank == 5 ? Format::NCDHW : rank == 4 ? Format::NCHW : Format::ND;
}

Format format_for_rank(Format wanted, std::size_t rank) {
  if (rank == 0) return Format::ND;
  const bool is_plain = wanted == Format::NCHW || wanted == Format::ND || wanted == Format::NCDHW;
  return is_plain ? origin_format(rank) : wanted;
}

Format origin_format_of(Format format) {
  switch (format) {
    case Format::ND:
    case Format::FRACTAL_NZ:
      return Format::ND;
    case Format::NCDHW:
    case Format::NDHWC:
    case Format::NDC1HWC0:
    case Format::FRACTAL_Z_3D:
      return Format::NCDHW;
    default:
      return Format::NCHW;
  }
}

bool is_private(Format format) {
  return format == Format::NC1HWC0 || format == Format::FRACTAL_Z || format == Format::FRACTAL_NZ ||
         format == Format::NDC1HWC0 || format == Format::FRACTAL_Z_3D;
}

int default_c0(DType dtype) { return size_of(dtype) == 1 ? 32 : 16; }

Dims storage_dims(Format format, const Dims& logical, int c0, int groups) {
  if (is_private(format) && c0 < 1) {
    throw Error(fmt::format("{}: c0 is {}, but must be positive", name(format), c0));
  }
  element_count(logical);
  Dims dims = stored(format, logical, c0, groups);
  element_count(dims);
  return dims;
}

FractalGroups fractal_groups(std::int64_t n, std::int64_t c, int groups, int c0) {
  if (groups < 1 || n % groups != 0) {
    throw Error(fmt::format(
        "FRACTAL_Z: {} groups of N = {}; allowed: a positive number that divides N", groups, n));
  }
  // lcm(a, b) / a is b / gcd(a, b). The second form is also right for 0 and cannot overflow.
  const std::int64_t rows = n / groups;
  const std::int64_t fill_c0 = c0 / std::gcd<std::int64_t>(c, c0);
  const std::int64_t fill_rows = kFractalRows / std::gcd(rows, kFractalRows);
  const std::int64_t together = std::min<std::int64_t>(std::lcm(fill_c0, fill_rows), groups);
  return {.together = together,
          .blocks = blocks(groups, together),
          .c1 = blocks(element_count({together, c}), c0),
          .n1 = blocks(together * rows, kFractalRows)};
}

Dims expand_to_nchw(const Dims& logical) {
  switch (logical.size()) {
    case 0:
      return {1, 1, 1, 1};
    case 1:
      return {1, logical[0], 1, 1};
    case 2:
      return {1, logical[0], logical[1], 1};
    case 3:
      return {1, logical[0], logical[1], logical[2]};
    case 4:
      return logical;
    default:
      throw Error(fmt::format("{} has {} extents; N, C, H, W allows up to 4", to_string(logical),
                              logical.size()));
  }
}

}  // namespace opbench
