// GatherV2 and GatherV3 as variants of index_select, gather, embedding and the channel shuffle.
//
// GatherV2 gives every core a contiguous range of rows; only rows of whole 32-byte blocks are
// written in one burst. GatherV3 distributes tiles of rows in turn and writes rows of any length
// exactly. Source: CANN gather_v2.py, gather_v3.py. Here a burst is an assembled line that is
// streamed past the cache.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>

#include "kernels/copy/line_writer.h"
#include "kernels/gather_rows.h"
#include "kernels/simd/elementwise.h"
#include "ops/shuffle.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kBlock = 32;             // bytes that the device moves at once
constexpr std::int64_t kTileBytes = 256 << 10;  // tile of GatherV3: about a core's buffer
constexpr std::int64_t kGrainBytes = 64 << 10;  // less does not repay waking a thread
constexpr std::size_t kBatch = 128;

// Zeros for indices outside the axis; longer rows repeat them.
const std::array<std::byte, 4096> kZeros{};

/// A gather bound to its shapes. Index is the index type.
struct Gather {
  GatherView view;
  std::int64_t element_bytes = 4;
  bool is_int64 = true;
  bool stream = false;
  bool by_element = false;

  std::int64_t row_bytes() const { return view.row * element_bytes; }
  std::int64_t rows() const { return view.batch * view.outer * view.count; }
};

// Assembles lines and streams them.
template <class Index>
void stream_rows(const Gather& g, const Index* index, std::int64_t begin, std::int64_t end,
                 const std::byte* x, std::byte* y) {
  const std::int64_t bytes = g.row_bytes();
  LineWriter writer(y + begin * bytes, true);
  std::array<Row, kBatch> batch;
  std::size_t count = 0;
  const auto add = [&](const std::byte* from, std::int64_t size) {
    batch[count++] = {from, static_cast<std::size_t>(size)};
    if (count < kBatch) return;
    writer.append(batch);
    count = 0;
  };
  for_each_gathered_row(g.view, index, begin, end, [&](std::int64_t slice, std::int64_t row) {
    if (row >= 0) return add(x + (slice * g.view.extent + row) * bytes, bytes);
    for (std::int64_t done = 0; done < bytes; done += std::ssize(kZeros)) {
      add(kZeros.data(), std::min<std::int64_t>(std::ssize(kZeros), bytes - done));
    }
  });
  writer.append({batch.data(), count});
  writer.finish();
}

template <class Index>
void gather_range(const Gather& g, const Index* index, std::int64_t begin, std::int64_t end,
                  const void* from, void* to) {
  const auto* x = static_cast<const std::byte*>(from);
  auto* y = static_cast<std::byte*>(to);
  if (g.by_element) {
    return copy_gathered_elements(g.view, index, begin, end, g.element_bytes, x, y);
  }
  if (g.stream && g.view.row > 1) return stream_rows(g, index, begin, end, x, y);
  copy_gathered_rows(g.view, index, begin, end, static_cast<std::size_t>(g.row_bytes()), x, y);
}

// Contiguous ranges of rows.
template <class Index>
void run_v2(const Gather& g, const Index* index, const void* x, void* y) {
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / g.row_bytes());
  parallel_ranges(g.rows(), grain, [&](std::int64_t begin, std::int64_t end) {
    gather_range(g, index, begin, end, x, y);
  });
}

// Distributes tiles in turn; a tile is a whole number of lines if the rows allow it.
template <class Index>
void run_v3(const Gather& g, const Index* index, const void* x, void* y) {
  constexpr std::int64_t kLine = LineWriter::kLine;
  const std::int64_t unit = kLine / std::gcd(kLine, g.row_bytes());
  const std::int64_t least = std::max<std::int64_t>(1, kTileBytes / g.row_bytes());
  const std::int64_t tile = (least + unit - 1) / unit * unit;
  const std::int64_t tiles = (g.rows() + tile - 1) / tile;
  const std::int64_t cores = std::min<std::int64_t>(thread_count(), tiles);
  parallel_ranges(cores, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t core = first; core < last; ++core) {
      for (std::int64_t t = core; t < tiles; t += cores) {
        gather_range(g, index, t * tile, std::min((t + 1) * tile, g.rows()), x, y);
      }
    }
  });
}

enum class Version { v2_scalar, v2, v3 };

template <Version kVersion>
void gather_all_rows(const Gather& g, const void* index, const void* x, void* y) {
  if (g.rows() * g.row_bytes() == 0) return;
  const auto typed = [&](const auto* values) {
    if constexpr (kVersion == Version::v3)
      run_v3(g, values, x, y);
    else
      run_v2(g, values, x, y);
  };
  if (g.is_int64)
    typed(static_cast<const std::int64_t*>(index));
  else
    typed(static_cast<const std::int32_t*>(index));
}

template <Version kVersion>
Gather bind(const Problem& problem, const GatherView& view) {
  Gather g{.view = view,
           .element_bytes = static_cast<std::int64_t>(size_of(problem.inputs[0].dtype))};
  g.is_int64 = problem.inputs.size() > 1 && problem.inputs[1].dtype == DType::int64;
  // GatherV2 has no exact burst for rows that are not whole blocks. Only the indexed rows of the
  // table are read.
  const auto read_and_written = static_cast<std::size_t>(2 * g.rows() * g.row_bytes());
  const bool is_aligned = g.row_bytes() % kBlock == 0;
  g.stream = outgrows_cache(read_and_written) && (kVersion == Version::v3 || is_aligned);
  g.by_element = kVersion == Version::v2_scalar && !is_aligned;
  return g;
}

template <Version kVersion>
Launch prepare(const Problem& problem) {
  return [g = bind<kVersion>(problem, gather_view(problem))](const KernelArgs& args) {
    gather_all_rows<kVersion>(g, args.inputs[1], args.inputs[0], args.outputs[0]);
  };
}

std::size_t int32_index_bytes(const Problem& problem) {
  return static_cast<std::size_t>(problem.inputs[1].elements()) * sizeof(std::int32_t);
}

// Converts the index to int32 and copies it in every call, like index.to(npu).
Launch prepare_generated(const Problem& problem) {
  Gather g = bind<Version::v3>(problem, gather_view(problem));
  const bool was_int64 = g.is_int64;
  g.is_int64 = false;
  const auto copy = std::make_shared<std::vector<std::int32_t>>(
      static_cast<std::size_t>(problem.inputs[1].elements()));
  return [g, was_int64, copy](const KernelArgs& args) {
    if (was_int64) {
      const auto* index = static_cast<const std::int64_t*>(args.inputs[1]);
      std::transform(index, index + copy->size(), copy->begin(),
                     [](std::int64_t value) { return static_cast<std::int32_t>(value); });
    } else {
      const auto* index = static_cast<const std::int32_t*>(args.inputs[1]);
      std::copy(index, index + copy->size(), copy->begin());
    }
    gather_all_rows<Version::v3>(g, copy->data(), args.inputs[0], args.outputs[0]);
  };
}

// GatherV3 asserts 0 <= index < extent. Source: gather_v3.py.
std::string refuse_special_indices(const Problem& problem) {
  const GatherView view = gather_view(problem);
  if (view.negative_allowed) return "GatherV3 takes no negative indices";
  if (view.zeros_outside) return "GatherV3 takes no indices outside the axis";
  return {};
}

std::string refuse_for_generated(const Problem& problem) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (gather_view(problem).extent <= kMost) return refuse_special_indices(problem);
  return fmt::format("the index is made int32; an axis may have at most {} entries", kMost);
}

/// The channel shuffle as a gather of planes with a fixed index.
struct Shuffle {
  Gather gather;
  std::int64_t groups;
  std::vector<std::int64_t> index;

  Shuffle(const Problem& problem, const Gather& g)
      : gather(g), groups(problem.attrs.integer("groups")), index(fp_index(g.view.extent, groups)) {
    gather.is_int64 = true;
  }
};

template <Version kVersion>
Shuffle shuffle_of(const Problem& problem) {
  const AxisView view(problem.inputs[0].shape, 1);
  return {problem, bind<kVersion>(problem, {.outer = view.outer,
                                            .extent = view.extent,
                                            .count = view.extent,
                                            .row = view.inner})};
}

template <Version kVersion>
Launch prepare_shuffle(const Problem& problem) {
  const auto shuffle = std::make_shared<Shuffle>(shuffle_of<kVersion>(problem));
  return [shuffle](const KernelArgs& args) {
    gather_all_rows<kVersion>(shuffle->gather, shuffle->index.data(), args.inputs[0],
                              args.outputs[0]);
  };
}

// range(C) reshaped, transposed and flattened in every call, into existing memory.
Launch prepare_shuffle_generated(const Problem& problem) {
  const auto shuffle = std::make_shared<Shuffle>(shuffle_of<Version::v3>(problem));
  return [shuffle](const KernelArgs& args) {
    const std::int64_t per_group = shuffle->gather.view.extent / shuffle->groups;
    for (std::int64_t i = 0; i < std::ssize(shuffle->index); ++i) {
      shuffle->index[static_cast<std::size_t>(i)] =
          i % shuffle->groups * per_group + i / shuffle->groups;
    }
    gather_all_rows<Version::v3>(shuffle->gather, shuffle->index.data(), args.inputs[0],
                                 args.outputs[0]);
  };
}

constexpr std::string_view kV2 =
    "GatherV2: contiguous ranges of rows, streamed where rows are whole 32-byte blocks";
constexpr std::string_view kV2Scalar =
    "GatherV2 without a class for unaligned rows (modelled): rows that are not whole 32-byte "
    "blocks are copied element by element";
constexpr std::string_view kV3 =
    "GatherV3: tiles of rows in turn, rows of any length streamed as whole lines";

Kernel by_v2(std::string_view op) {
  return {.op = op,
          .name = "gather_v2",
          .provider = Provider::npu,
          .summary = kV2,
          .prepare = prepare<Version::v2>};
}
Kernel by_v2_scalar(std::string_view op) {
  return {.op = op,
          .name = "gather_v2_scalar",
          .provider = Provider::npu,
          .summary = kV2Scalar,
          .prepare = prepare<Version::v2_scalar>,
          .device_name = "GatherV2"};
}
Kernel by_v3(std::string_view op) {
  return {.op = op,
          .name = "gather_v3",
          .provider = Provider::npu,
          .summary = kV3,
          .refusal = refuse_special_indices,
          .prepare = prepare<Version::v3>};
}

const RegisteredKernel kGathers[] = {
    RegisteredKernel(by_v2("index_select")),
    RegisteredKernel(by_v3("index_select")),
    RegisteredKernel(by_v2("gather")),
    RegisteredKernel(by_v3("gather")),
    RegisteredKernel(by_v2("embedding")),
    RegisteredKernel(by_v3("embedding")),
    RegisteredKernel(by_v2_scalar("index_select")),
};
const RegisteredKernel select_generated{
    {.op = "index_select",
     .name = "gather_v3_generated",
     .provider = Provider::npu,
     .summary = "GatherV3 with the index made int32 and copied for every call (index.to(npu))",
     .refusal = refuse_for_generated,
     .prepare = prepare_generated,
     .temporary_bytes = int32_index_bytes}};
const RegisteredKernel shuffle_select{
    {.op = "channel_shuffle",
     .name = "index_select",
     .provider = Provider::npu,
     .summary = "index_select with fp_index, made once and kept; GatherV3 underneath",
     .prepare = prepare_shuffle<Version::v3>,
     .device_name = "GatherV2"}};
const RegisteredKernel shuffle_generated{
    {.op = "channel_shuffle",
     .name = "index_select_generated",
     .provider = Provider::npu,
     .summary = "index_select with fp_index made for every call",
     .prepare = prepare_shuffle_generated}};
const RegisteredKernel shuffle_v2{{.op = "channel_shuffle",
                                   .name = "gather_v2",
                                   .provider = Provider::npu,
                                   .summary = kV2,
                                   .prepare = prepare_shuffle<Version::v2>}};
const RegisteredKernel shuffle_v3{{.op = "channel_shuffle",
                                   .name = "gather_v3",
                                   .provider = Provider::npu,
                                   .summary = kV3,
                                   .prepare = prepare_shuffle<Version::v3>}};

}  // namespace
}  // namespace opbench
