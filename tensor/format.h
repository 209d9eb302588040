#pragma once

#include <cstdint>
#include <string_view>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace opbench {

/// Storage formats with Ascend's numbers (aclFormat).
enum class Format : std::int32_t {
  NCHW = 0,
  NHWC = 1,
  ND = 2,
  NC1HWC0 = 3,
  FRACTAL_Z = 4,
  HWCN = 16,
  NDHWC = 27,
  FRACTAL_NZ = 29,
  NCDHW = 30,
  NDC1HWC0 = 32,
  FRACTAL_Z_3D = 33,
};

inline constexpr std::array kAllFormats = {Format::NCHW,     Format::NHWC,        Format::ND,
                                           Format::NC1HWC0,  Format::FRACTAL_Z,   Format::HWCN,
                                           Format::NDHWC,    Format::FRACTAL_NZ,  Format::NCDHW,
                                           Format::NDC1HWC0, Format::FRACTAL_Z_3D};

/// "NCHW", "NC1HWC0", ...
std::string_view name(Format format);

/// The format that `text` spells: its name, "5HD", "6HD", "FZ", "NZ", or Ascend's number. Errors:
/// throws Error that lists what is allowed.
Format parse_format(std::string_view text);

/// The plain format that the framework chooses for a tensor of this rank: NCDHW for 5, NCHW for 4,
/// else ND.
Format origin_format(std::size_t rank);

/// The storage format of a tensor of this rank for a requested format: a plain format follows the
/// rank, and a scalar is ND.
Format format_for_rank(Format wanted, std::size_t rank);

/// The plain format with the axis order of `format`: NCHW, NCDHW or ND.
Format origin_format_of(Format format);

/// Rows of a fractal, for every dtype.
inline constexpr std::int64_t kFractalRows = 16;

/// True for the formats that pad: NC1HWC0, FRACTAL_Z, FRACTAL_NZ, NDC1HWC0, FRACTAL_Z_3D.
bool is_private(Format format);

/// Elements of the innermost block of a private format: 32 for 8-bit types, else 16. Source: CANN
/// trans_data tiling. A C0 of 8 for fp32 exists as well; callers pass it explicitly.
int default_c0(DType dtype);

/// Extents of the stored tensor, padding included.
///
/// Shapes: `logical` is in the base order of `format`: N,C,H,W, or N,C,D,H,W for the 3-D formats;
/// ND and FRACTAL_NZ take any rank. NC1HWC0 and FRACTAL_Z expand ranks below 4 like the
/// framework: () -> [1,1,1,1], [C] -> [1,C,1,1], [C,H] -> [1,C,H,1], [C,H,W] -> [1,C,H,W].
///   NC1HWC0       [N, ceil(C/c0), H, W, c0]
///   FRACTAL_Z     [ceil(C/c0)*H*W, ceil(N/16), 16, c0]
///   with groups   [blocks*c1*H*W, n1, 16, c0] of `fractal_groups`, where C counts the channels of
///                 one group; other formats ignore `groups`
///   FRACTAL_NZ    [..., ceil(N/c0), ceil(M/16), 16, c0] of the last two dims (M, N)
///   NDC1HWC0      [N, D, ceil(C/c0), H, W, c0]
///   FRACTAL_Z_3D  [D*ceil(C/c0)*H*W, ceil(N/16), 16, c0]
///
/// Errors: throws Error if the rank does not fit the format, the size overflows or `groups` does
/// not divide N.
Dims storage_dims(Format format, const Dims& logical, int c0, int groups = 1);

/// The way FRACTAL_Z packs the weight of a grouped convolution. One block holds `together` groups,
/// the number that fills c0 channels and 16 rows best. Group g has the channels from (g % together)
/// * C on and the rows from (g % together) * N / groups on; the rest of the block is zero. Source:
/// format_transfer_fractal_z.cpp of CANN's TransData.
struct FractalGroups {
  std::int64_t together = 1;  ///< min(lcm(lcm(C,c0)/C, lcm(N/groups,16)/(N/groups)), groups)
  std::int64_t blocks = 1;    ///< ceil(groups / together)
  std::int64_t c1 = 0;        ///< ceil(together * C / c0)
  std::int64_t n1 = 0;        ///< ceil(together * N / groups / 16)
};

/// Errors: throws Error if `groups` is not positive or does not divide N, or if the size overflows.
FractalGroups fractal_groups(std::int64_t n, std::int64_t c, int groups, int c0);

/// `logical` expanded to (N,C,H,W) by the rule of storage_dims. Errors: throws Error for ranks
/// above 4.
Dims expand_to_nchw(const Dims& logical);

}  // namespace opbench
