#include "kernels/copy/row_copy.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>

#include "kernels/copy/line_writer.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// The batch size of rows for the writer.
constexpr std::size_t kBatch = 128;
/// Bytes per thread; less does not repay waking a thread.
constexpr std::int64_t kGrainBytes = 64 << 10;

/// The plan of one output, with the places of its rows.
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

/// Passes rows to writers in batches.
class Batch {
 public:
  explicit Batch(std::span<LineWriter> writers) : writers_(writers) {}
  ~Batch() { flush(); }
  Batch(const Batch&) = delete;

  void add(const std::byte* from, std::int64_t bytes, std::size_t writer = 0) {
    rows_[count_++] = {from, static_cast<std::size_t>(bytes), writer};
    if (count_ == kBatch) flush();
  }

 private:
  void flush() {
    LineWriter::append(writers_, {rows_.data(), count_});
    count_ = 0;
  }

  std::span<LineWriter> writers_;
  std::array<Row, kBatch> rows_;
  std::size_t count_ = 0;
};

/// A row of one of several outputs.
struct Dealt {
  RowSource source;
  std::size_t output;
};

// The rows of all outputs in the order of the inputs, as far as the outputs' own orders allow it.
// Lines that outputs share are then read once.
std::vector<Dealt> in_input_order(const std::vector<Output>& outputs) {
  std::vector<Dealt> order;
  std::vector<std::size_t> next(outputs.size());
  for (;;) {
    std::optional<Dealt> nearest;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (next[k] == outputs[k].rows.size()) continue;
      const Dealt candidate{outputs[k].rows[next[k]], k};
      if (!nearest || candidate.source.offset < nearest->source.offset) nearest = candidate;
    }
    if (!nearest) return order;
    order.push_back(*nearest);
    ++next[nearest->output];
  }
}

class RowCopy {
 public:
  RowCopy(RowPlan plan, bool stream)
      : outer_(plan.outer), strides_(std::move(plan.input_strides)), stream_(stream) {
    for (std::vector<RowSource>& rows : plan.outputs) {
      outputs_.emplace_back(std::move(rows));
      bytes_ += outputs_.back().bytes;
    }
    const bool is_few = outputs_.size() > 1 && outputs_.size() <= LineWriter::kMostWriters;
    if (is_few) dealt_ = in_input_order(outputs_);
  }

  void run(const KernelArgs& args) const {
    if (bytes_ == 0 || outer_ == 0) return;
    if (!dealt_.empty() && outer_ >= 2 * thread_count()) return run_dealt(args);
    for (std::size_t k = 0; k < outputs_.size(); ++k) run_output(args, k);
  }

 private:
  void run_dealt(const KernelArgs& args) const {
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / bytes_);
    parallel_ranges(outer_, grain, [&](std::int64_t begin, std::int64_t end) {
      std::array<LineWriter, LineWriter::kMostWriters> writers;
      for (std::size_t k = 0; k < outputs_.size(); ++k) {
        auto* const out = static_cast<std::byte*>(args.outputs[k]);
        writers[k] = LineWriter(out + begin * outputs_[k].bytes, stream_);
      }
      {
        Batch batch({writers.data(), outputs_.size()});
        for (std::int64_t o = begin; o < end; ++o) {
          for (const Dealt& row : dealt_) {
            batch.add(static_cast<const std::byte*>(args.inputs[row.source.input]) +
                          o * strides_[row.source.input] + row.source.offset,
                      row.source.bytes, row.output);
          }
        }
      }
      for (std::size_t k = 0; k < outputs_.size(); ++k) writers[k].finish();
    });
  }

  void run_output(const KernelArgs& args, std::size_t k) const {
    const Output& output = outputs_[k];
    if (output.bytes == 0) return;
    parallel_ranges(outer_ * output.bytes, kGrainBytes, [&](std::int64_t begin, std::int64_t end) {
      LineWriter writer(static_cast<std::byte*>(args.outputs[k]) + begin, stream_);
      {
        Batch batch({&writer, 1});
        for (std::int64_t o = begin / output.bytes; o * output.bytes < end; ++o) {
          const std::int64_t start = o * output.bytes;
          add_rows(args, output, o, std::max<std::int64_t>(0, begin - start),
                   std::min(output.bytes, end - start), batch);
        }
      }
      writer.finish();
    });
  }

  // Adds bytes [begin, end) of repetition `o`.
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
  std::vector<Dealt> dealt_;  ///< rows of several outputs; many outputs are copied one by one
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
