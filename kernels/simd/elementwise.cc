#include "kernels/simd/elementwise.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/copy/repeat.h"
#include "kernels/simd/streaming.h"
#include "ops/broadcast.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

constexpr std::int64_t kPiece = 1024;  // elements that are expanded at a time
constexpr std::int64_t kLong = 256;    // elements; a run of this length repays a lookup
constexpr std::int64_t kRow = 16;      // elements; rows of this length are computed in place
using Piece = std::array<std::byte, kPiece * sizeof(std::int64_t)>;  // the widest dtype

/// An input in the form that the result needs.
struct Expanded {
  DType dtype;
  BroadcastView view;

  // A single element is at the start of any storage.
  Expanded(const TensorDesc& from, const TensorDesc& to)
      : dtype(from.dtype), view(from.elements() == 1 ? Dims{} : from.storage(), to.storage()) {}

  BroadcastRun run_at(std::int64_t place) const {
    constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
    return view.is_whole() ? BroadcastRun{place, kAll, 1} : view.run_at(place);
  }

  /// The elements of a range that begins with `run`, dense.
  const void* part(const void* data, const BroadcastRun& run, ElementRange range,
                   void* buffer) const {
    if (run.step != 0 && run.count >= range.count) return at(data, dtype, run.first);
    const std::size_t size = size_of(dtype);
    const std::int64_t made = std::min(range.count, view.period());
    view.for_each_run({range.first, made}, [&](const BroadcastRun& part, std::int64_t place) {
      void* to = at(buffer, dtype, place);
      const void* from = at(data, dtype, part.first);
      if (part.step == 0) return repeat_element(from, size, part.count, to);
      std::memcpy(to, from, static_cast<std::size_t>(part.count) * size);
    });
    for (std::int64_t done = made, more = 0; done < range.count; done += more) {
      more = std::min(done, range.count - done);
      std::memcpy(at(buffer, dtype, done), buffer, static_cast<std::size_t>(more) * size);
    }
    return buffer;
  }
};

class BroadcastParts {
 public:
  BroadcastParts(const Problem& problem, std::function<void(const ElementwisePart& part)> compute,
                 BroadcastForm form)
      : compute_(std::move(compute)),
        result_(problem.outputs[0].dtype),
        elements_(stored_elements(problem)),
        takes_rows_(form == BroadcastForm::rows) {
    assert(problem.inputs.size() <= kMostInputs);
    for (const TensorDesc& input : problem.inputs) inputs_.emplace_back(input, problem.outputs[0]);
  }

  void run(const KernelArgs& args) const {
    for_each_range(elements_, [&](std::int64_t begin, std::int64_t end) {
      alignas(64) std::array<Piece, kMostInputs> pieces;
      Runs runs;
      for (std::int64_t place = begin; place < end;) {
        std::int64_t count = end - place;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
          runs[i] = inputs_[i].run_at(place);
          count = std::min(count, reach(runs[i]));
        }
        if (const std::int64_t done = compute_rows(args, place, end, runs); done > 0) {
          place += done;
          continue;
        }
        const int single = single_of(runs, count);
        ElementwisePart part{
            static_cast<std::size_t>(count), {}, at(args.outputs[0], result_, place), single};
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
          part.inputs[i] =
              static_cast<int>(i) == single
                  ? at(args.inputs[i], inputs_[i].dtype, runs[i].first)
                  : inputs_[i].part(args.inputs[i], runs[i], {place, count}, pieces[i].data());
        }
        compute_(part);
        place += count;
      }
    });
  }

 private:
  static constexpr std::size_t kMostInputs = std::size(ElementwisePart{}.inputs);

  using Runs = std::array<BroadcastRun, kMostInputs>;

  // Computes rows that begin at `place` in which every input is dense or one element, with one
  // lookup for all of them. Returns the number of elements of these rows; 0 without such rows.
  std::int64_t compute_rows(const KernelArgs& args, std::int64_t place, std::int64_t end,
                            const Runs& runs) const {
    std::int64_t length = end - place;
    for (std::size_t i = 0; i < inputs_.size(); ++i) length = std::min(length, runs[i].count);
    if (!takes_rows_ || length < kRow) return 0;
    ElementwisePart part{static_cast<std::size_t>(length), {}, at(args.outputs[0], result_, place)};
    part.single = single_of(runs, length);
    std::int64_t rows = (end - place) / length;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (runs[i].step == 0 && static_cast<int>(i) != part.single) return 0;
      const BroadcastRows next = inputs_[i].view.rows_at(place, length);
      rows = std::min(rows, next.count);
      part.steps[i] = next.step;
      part.inputs[i] = at(args.inputs[i], inputs_[i].dtype, runs[i].first);
    }
    part.rows = static_cast<std::size_t>(rows);
    compute_(part);
    return rows * length;
  }

  /// The number of elements that are computed together: a long run in place, else a piece.
  std::int64_t reach(const BroadcastRun& run) const {
    const bool is_used_as_it_lies = run.step != 0 || takes_rows_;
    return is_used_as_it_lies && run.count >= kLong ? run.count : kPiece;
  }

  // The last input with one element for the whole row.
  int single_of(const Runs& runs, std::int64_t count) const {
    if (!takes_rows_ || count < 2) return -1;
    for (std::size_t i = inputs_.size(); i-- > 0;) {
      if (runs[i].step == 0 && runs[i].count >= count) return static_cast<int>(i);
    }
    return -1;
  }

  std::function<void(const ElementwisePart& part)> compute_;
  std::vector<Expanded> inputs_;
  DType result_;
  std::int64_t elements_;
  bool takes_rows_;
};

}  // namespace

Launch broadcast_launch(const Problem& problem,
                        std::function<void(const ElementwisePart& part)> compute,
                        BroadcastForm form) {
  if (!is_broadcast(problem)) return elementwise_launch(problem, std::move(compute));
  return [parts = BroadcastParts(problem, std::move(compute), form)](const KernelArgs& args) {
    parts.run(args);
  };
}

bool outgrows_cache(const Problem& problem) {
  std::size_t bytes = 0;
  for (const TensorDesc& tensor : problem.inputs) bytes += tensor.bytes();
  for (const TensorDesc& tensor : problem.outputs) bytes += tensor.bytes();
  return outgrows_cache(bytes);
}

bool outgrows_cache(std::size_t bytes) {
  // A quarter more than the own caches still pays to keep: measured on copies, concat, axpy and
  // casts from 1 to 100 MiB. The exact limit depends on the machine.
  const std::size_t own = own_cache_bytes() * static_cast<std::size_t>(thread_count()) * 5 / 4;
  return bytes > own && bytes > streams_from_bytes();
}

std::int64_t stored_elements(const Problem& problem) {
  return problem.outputs.front().storage_elements();
}

Launch elementwise_launch(const Problem& problem,
                          std::function<void(const ElementwisePart& part)> compute) {
  assert(problem.inputs.size() <= std::size(ElementwisePart{}.inputs));
  std::vector<DType> dtypes;
  for (const TensorDesc& input : problem.inputs) dtypes.push_back(input.dtype);
  return
      [compute = std::move(compute), dtypes = std::move(dtypes), result = problem.outputs[0].dtype,
       elements = stored_elements(problem)](const KernelArgs& args) {
        for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
          ElementwisePart part{
              static_cast<std::size_t>(end - begin), {}, at(args.outputs[0], result, begin)};
          for (std::size_t i = 0; i < args.inputs.size(); ++i)
            part.inputs[i] = at(args.inputs[i], dtypes[i], begin);
          compute(part);
        });
      };
}

void for_each_range(std::int64_t count,
                    const std::function<void(std::int64_t, std::int64_t)>& body) {
  // Fewer elements do not repay waking a thread.
  constexpr std::int64_t kWorthAThread = 16 * 1024;
  const std::int64_t threads = std::clamp<std::int64_t>(count / kWorthAThread, 1, thread_count());
  const std::int64_t share = (count + threads - 1) / threads;
  parallel_ranges(count, (share + kElementwiseGrain - 1) / kElementwiseGrain * kElementwiseGrain,
                  body);
}

}  // namespace opbench
