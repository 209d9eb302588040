// TransData: the format casts of Ascend 910, as strided copies at memory speed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "kernels/simd/elementwise.h"
#include "kernels/trans_data_plan.h"
#include "tensor/element_map.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

struct Cast {
  Format from, to;

  bool operator==(const Cast&) const = default;
};

// The casts for both directions. Source: op information of CANN 8.1 for ascend910.
constexpr std::array kBothWays = {
    Cast{Format::NCHW, Format::NC1HWC0},      Cast{Format::NHWC, Format::NC1HWC0},
    Cast{Format::ND, Format::FRACTAL_NZ},     Cast{Format::NCHW, Format::FRACTAL_Z},
    Cast{Format::HWCN, Format::FRACTAL_Z},    Cast{Format::NCDHW, Format::NDC1HWC0},
    Cast{Format::NDHWC, Format::NDC1HWC0},    Cast{Format::NCDHW, Format::FRACTAL_Z_3D},
    Cast{Format::NDHWC, Format::FRACTAL_Z_3D}};
constexpr std::array kOneWay = {Cast{Format::NC1HWC0, Format::FRACTAL_Z},
                                Cast{Format::FRACTAL_NZ, Format::NC1HWC0}};
constexpr std::array kPermuted = {Format::NCHW, Format::NHWC, Format::HWCN};
constexpr std::array kCastDTypes = {DType::fp32,  DType::fp16, DType::bf16,
                                    DType::int32, DType::int8, DType::uint8};
constexpr std::array kPermutedDTypes = {DType::fp32,  DType::fp16, DType::int64, DType::int32,
                                        DType::int16, DType::int8, DType::uint8};

template <class Values, class T>
bool contains(const Values& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The formats of a cast. Plain tensors are relabelled without a copy: ND means the format that the
// other side requires.
Cast cast_of(const TensorDesc& x, const TensorDesc& y) {
  return {is_row_major(x) ? origin_format_of(y.format) : x.format,
          is_row_major(y) ? origin_format_of(x.format) : y.format};
}

bool is_permutation(const Cast& cast) {
  return contains(kPermuted, cast.from) && contains(kPermuted, cast.to);
}

bool is_known(const Cast& cast) {
  return is_permutation(cast) || contains(kOneWay, cast) || contains(kBothWays, cast) ||
         contains(kBothWays, Cast{cast.to, cast.from});
}

bool is_known(const Cast& cast, DType dtype) {
  if (is_permutation(cast)) return contains(kPermutedDTypes, dtype);
  const bool is_5hd = cast == kBothWays[0] || cast == Cast{kBothWays[0].to, kBothWays[0].from};
  return contains(kCastDTypes, dtype) || (is_5hd && dtype == DType::int16);
}

std::string refuse(const Problem& problem) {
  const TensorDesc &x = problem.inputs[0], &y = problem.outputs[0];
  const Cast cast = cast_of(x, y);
  if (x.dtype == DType::boolean || x.dtype == DType::fp64) {
    return fmt::format("Ascend 910 has no TransData of {}", name(x.dtype));
  }
  if (!is_known(cast)) {
    return fmt::format("Ascend 910 has no TransData from {} to {}", name(cast.from), name(cast.to));
  }
  if (!is_known(cast, x.dtype)) {
    return fmt::format("Ascend 910 has no TransData of {} from {} to {}", name(x.dtype),
                       name(cast.from), name(cast.to));
  }
  const bool is_grouped = std::max(x.groups, y.groups) > 1;
  if (is_grouped && !is_row_major(x) && !is_row_major(y)) {
    return "grouped weights go between NCHW and FRACTAL_Z only";
  }
  return {};
}

void clear(const PaddingGap& gap, std::int64_t bytes, void* to) {
  constexpr std::int64_t kPiece = 64 << 10;  // bytes; less does not repay waking a thread
  const std::int64_t pieces = (gap.count * bytes + kPiece - 1) / kPiece;
  const std::int64_t grain = std::max<std::int64_t>(1, kPiece / (gap.count * bytes + 1));
  parallel_ranges(gap.chunks * pieces, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t done = i % pieces * kPiece;
      std::memset(
          static_cast<std::byte*>(to) + (gap.first + i / pieces * gap.stride) * bytes + done, 0,
          static_cast<std::size_t>(std::min(kPiece, gap.count * bytes - done)));
    }
  });
}

// False if another copy also writes to the lines at the ends of what this copy writes contiguously.
// Such short pieces are better joined in the cache than streamed.
bool writes_whole_lines(const StridedNest& nest) {
  constexpr std::int64_t kLine = 64, kLong = 16 * kLine;  // bytes
  std::vector<StridedLoop> loops = nest.loops;
  std::sort(loops.begin(), loops.end(),
            [](const auto& a, const auto& b) { return a.to_stride < b.to_stride; });
  std::int64_t together = 1;
  auto loop = loops.begin();
  for (; loop != loops.end() && loop->to_stride == together; ++loop) together *= loop->extent;
  const auto is_whole = [&](std::int64_t count) { return count * nest.element_bytes % kLine == 0; };
  return together * nest.element_bytes >= kLong ||
         (is_whole(together) && is_whole(nest.to_offset) &&
          std::all_of(loop, loops.end(), [&](const auto& of) { return is_whole(of.to_stride); }));
}

// Runs all copies of some images, then of the next: a line that two copies share is then still in
// the cache.
class CopiesByImage {
 public:
  CopiesByImage(const std::vector<StridedNest>& nests, bool stream) {
    if (!stream || !begin_with_images(nests)) {
      copies_ = copies_of(nests, stream);
      return;
    }
    const StridedLoop& images = nests.front().loops.front();
    const std::int64_t bytes = nests.front().element_bytes;
    extent_ = images.extent;
    from_step_ = images.from_stride * bytes;
    to_step_ = images.to_stride * bytes;
    const auto cache = static_cast<std::int64_t>(own_cache_bytes()) * thread_count() / 2;
    step_ = std::clamp<std::int64_t>(cache / (from_step_ + to_step_), 1, extent_);
    copies_ = copies_of(cut_to(nests, step_), stream);
    last_ = copies_of(cut_to(nests, extent_ % step_), stream);
  }

  void run(const void* from, void* to) const {
    for (std::int64_t image = 0; image < extent_; image += step_) {
      const auto* source = static_cast<const std::byte*>(from) + image * from_step_;
      auto* target = static_cast<std::byte*>(to) + image * to_step_;
      for (const StridedCopy& copy : extent_ - image < step_ ? last_ : copies_) {
        copy.run(source, target);
      }
    }
  }

 private:
  // True for several copies that all begin with the same loop.
  static bool begin_with_images(const std::vector<StridedNest>& nests) {
    if (nests.size() < 2) return false;
    const StridedLoop& first = nests.front().loops.front();
    return first.from_stride > 1 && first.to_stride > 1 &&
           std::all_of(nests.begin(), nests.end(), [&](const StridedNest& nest) {
             const StridedLoop& loop = nest.loops.front();
             return loop.extent == first.extent && loop.from_stride == first.from_stride &&
                    loop.to_stride == first.to_stride;
           });
  }

  static std::vector<StridedNest> cut_to(std::vector<StridedNest> nests, std::int64_t images) {
    if (images == 0) return {};
    for (StridedNest& nest : nests) {
      StridedLoop& loop = nest.loops.front();
      loop.extent = loop.valid = loop.readable = images;
    }
    return nests;
  }

  static std::vector<StridedCopy> copies_of(std::vector<StridedNest> nests, bool stream) {
    std::vector<StridedCopy> copies;
    for (StridedNest& nest : nests) {
      const bool is_joined = nests.size() > 1 && !writes_whole_lines(nest);
      copies.emplace_back(std::move(nest), stream && !is_joined);
    }
    return copies;
  }

  std::int64_t extent_ = 1, step_ = 1, from_step_ = 0, to_step_ = 0;  // steps in bytes
  std::vector<StridedCopy> copies_, last_;
};

Launch prepare(const Problem& problem) {
  const TransDataPlan plan = plan_trans_data(problem.inputs[0], problem.outputs[0]);
  const auto copies = std::make_shared<CopiesByImage>(plan.nests, outgrows_cache(problem));
  return
      [copies, gap = plan.gap, bytes = static_cast<std::int64_t>(size_of(problem.inputs[0].dtype))](
          const KernelArgs& args) {
        if (gap.chunks > 0) clear(gap, bytes, args.outputs[0]);
        copies->run(args.inputs[0], args.outputs[0]);
      };
}

const RegisteredKernel registered{{
    .op = "trans_data",
    .name = "trans_data",
    .provider = Provider::npu,
    .summary = "TransData on 910: whole blocks and tails, transposed in registers, one pass",
    .refusal = refuse,
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
