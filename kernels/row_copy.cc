#include "kernels/row_copy.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "kernels/line_writer.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// Rows are handed to the writer in batches of this many.
constexpr std::size_t kBatch = 128;
/// Threads are worth waking for this many bytes each.
constexpr std::int64_t kGrainBytes = 16 << 10;

/// Outputs take turns after this many bytes of all: the lines of the inputs that they share are
/// then still in the first-level cache.
constexpr std::int64_t kPartBytes = 16 << 10;

/// As many outputs as have room for their open lines.
constexpr std::size_t kMostInterleaved = 8;

/// The plan of one output with its rows' places in it.
struct Output {
  std::vector<RowSource> rows;
  std::vector<std::int64_t> starts;  ///< of each row within a repetition, bytes
  std::int64_t bytes = 0;            ///< of a repetition

  explicit Output(std::vector<RowSource> sources) : rows(std::move(sources)) {
    for (const RowSource& row : rows) {
      starts.push_back(bytes);
      bytes += row.bytes;
    }
  }
};

/// Hands rows to a writer in batches.
class Batch {
 public:
  explicit Batch(LineWriter& writer) : writer_(writer) {}
  ~Batch() { writer_.append({rows_.data(), count_}); }
  Batch(const Batch&) = delete;

  void add(const std::byte* from, std::int64_t bytes) {
    rows_[count_++] = {from, static_cast<std::size_t>(bytes)};
    if (count_ == kBatch) {
      writer_.append(rows_);
      count_ = 0;
    }
  }

 private:
  LineWriter& writer_;
  std::array<Row, kBatch> rows_;
  std::size_t count_ = 0;
};

class RowCopy {
 public:
  RowCopy(RowPlan plan, bool stream)
      : outer_(plan.outer), strides_(std::move(plan.input_strides)), stream_(stream) {
    for (std::vector<RowSource>& rows : plan.outputs) {
      outputs_.emplace_back(std::move(rows));
      bytes_ += outputs_.back().bytes;
    }
  }

  void run(const KernelArgs& args) const {
    if (bytes_ == 0 || outer_ == 0) return;
    // Several outputs share lines of the inputs: one repetition of all at a time, while it is in
    // the cache.
    const bool is_few = outputs_.size() > 1 && outputs_.size() <= kMostInterleaved;
    if (is_few && outer_ >= 2 * thread_count()) return run_interleaved(args);
    for (std::size_t k = 0; k < outputs_.size(); ++k) run_output(args, k);
  }

 private:
  void run_interleaved(const KernelArgs& args) const {
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / bytes_);
    const std::int64_t parts = std::max<std::int64_t>(1, bytes_ / kPartBytes);
    parallel_ranges(outer_, grain, [&](std::int64_t begin, std::int64_t end) {
      std::array<std::optional<LineWriter>, kMostInterleaved> writers;
      for (std::size_t k = 0; k < outputs_.size(); ++k) {
        writers[k].emplace(static_cast<std::byte*>(args.outputs[k]) + begin * outputs_[k].bytes,
                           stream_);
      }
      for (std::int64_t o = begin; o < end; ++o) {
        for (std::int64_t part = 0; part < parts; ++part) {
          for (std::size_t k = 0; k < outputs_.size(); ++k) {
            const std::int64_t bytes = outputs_[k].bytes;
            Batch batch(*writers[k]);
            add_rows(args, outputs_[k], o, part * bytes / parts, (part + 1) * bytes / parts, batch);
          }
        }
      }
      for (std::size_t k = 0; k < outputs_.size(); ++k) writers[k]->finish();
    });
  }

  void run_output(const KernelArgs& args, std::size_t k) const {
    const Output& output = outputs_[k];
    if (output.bytes == 0) return;
    parallel_ranges(outer_ * output.bytes, kGrainBytes, [&](std::int64_t begin, std::int64_t end) {
      LineWriter writer(static_cast<std::byte*>(args.outputs[k]) + begin, stream_);
      {
        Batch batch(writer);
        for (std::int64_t o = begin / output.bytes; o * output.bytes < end; ++o) {
          const std::int64_t start = o * output.bytes;
          add_rows(args, output, o, std::max<std::int64_t>(0, begin - start),
                   std::min(output.bytes, end - start), batch);
        }
      }
      writer.finish();
    });
  }

  // Bytes [begin, end) of repetition `o`.
  void add_rows(const KernelArgs& args, const Output& output, std::int64_t o, std::int64_t begin,
                std::int64_t end, Batch& batch) const {
    auto row = static_cast<std::size_t>(
        std::upper_bound(output.starts.begin(), output.starts.end(), begin) -
        output.starts.begin() - 1);
    for (std::int64_t at = begin; at < end; ++row) {
      const RowSource& source = output.rows[row];
      const std::int64_t skipped = at - output.starts[row];
      const std::int64_t count = std::min(source.bytes - skipped, end - at);
      batch.add(static_cast<const std::byte*>(args.inputs[source.input]) +
                    o * strides_[source.input] + source.offset + skipped,
                count);
      at += count;
    }
  }

  std::int64_t outer_;
  std::vector<std::int64_t> strides_;
  std::vector<Output> outputs_;
  std::int64_t bytes_ = 0;
  bool stream_;
};

}  // namespace

RowPlan joined(RowPlan plan) {
  for (std::vector<RowSource>& rows : plan.outputs) {
    std::vector<RowSource> kept;
    for (const RowSource& row : rows) {
      if (row.bytes == 0) continue;
      RowSource* last = kept.empty() ? nullptr : &kept.back();
      if (last != nullptr && last->input == row.input && last->offset + last->bytes == row.offset) {
        last->bytes += row.bytes;
      } else {
        kept.push_back(row);
      }
    }
    rows = std::move(kept);
  }
  return plan;
}

Launch copy_rows(RowPlan plan, bool stream) {
  return [copy = std::make_shared<RowCopy>(joined(std::move(plan)), stream)](
             const KernelArgs& args) { copy->run(args); };
}

}  // namespace opbench
