#include "kernels/broadcast.h"

#include <array>
#include <cstring>

#include "kernels/move/repeat.h"
#include "ops/broadcast.h"

namespace opbench {
namespace {

constexpr std::int64_t kPiece = 1024;  // elements that are expanded at a time
using Piece = std::array<std::byte, kPiece * sizeof(float)>;

/// An input as the result needs it.
struct Expanded {
  DType dtype;
  BroadcastView view;

  // A single element lies first, whatever the storage.
  Expanded(const TensorDesc& from, const TensorDesc& to)
      : dtype(from.dtype), view(from.elements() == 1 ? Dims{} : from.storage(), to.storage()) {}

  /// How many elements from `place` on are handed out together: a long run as it lies, else a
  /// piece.
  std::int64_t reach(std::int64_t place) const {
    const BroadcastRun run = view.run_at(place);
    return run.step != 0 ? std::max(run.count, kPiece) : kPiece;
  }

  const void* part(const void* data, ElementRange range, void* buffer) const {
    const BroadcastRun run = view.run_at(range.first);
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

}  // namespace

Launch broadcast_launch(const Problem& problem,
                        std::function<void(const ElementwisePart& part)> compute) {
  if (!is_broadcast(problem)) return elementwise_launch(problem, std::move(compute));
  const TensorDesc& to = problem.outputs[0];
  return [compute = std::move(compute), a = Expanded(problem.inputs[0], to),
          b = Expanded(problem.inputs[1], to), result = to.dtype,
          elements = stored_elements(problem)](const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      alignas(64) Piece left, right;
      for (std::int64_t place = begin; place < end;) {
        const std::int64_t count = std::min({end - place, a.reach(place), b.reach(place)});
        compute({static_cast<std::size_t>(count),
                 {a.part(args.inputs[0], {place, count}, left.data()),
                  b.part(args.inputs[1], {place, count}, right.data())},
                 at(args.outputs[0], result, place)});
        place += count;
      }
    });
  };
}

}  // namespace opbench
