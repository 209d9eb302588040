// A format cast of a framework without an operator for it: element by element.
#include <cstring>
#include <memory>

#include "kernels/trans_data_plan.h"
#include "tensor/dtype.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kGrain = 16 * 1024;  // elements; fewer do not repay waking a thread

void clear(void* data, std::size_t bytes) {
  parallel_ranges(static_cast<std::int64_t>(bytes), kGrain,
                  [data](std::int64_t begin, std::int64_t end) {
                    std::memset(static_cast<std::byte*>(data) + begin, 0,
                                static_cast<std::size_t>(end - begin));
                  });
}

/// The first element of each run along the last axis, by the run's number.
Dims indices_of_row(const ElementMap& map, std::int64_t row) {
  Dims indices(map.axes.size());
  for (std::size_t i = indices.size() - 1; i-- > 0;) {
    indices[i] = row % map.axes[i].extent;
    row /= map.axes[i].extent;
  }
  return indices;
}

void advance(const ElementMap& map, Dims& indices) {
  for (std::size_t i = indices.size() - 1; i-- > 0;) {
    if (++indices[i] < map.axes[i].extent) return;
    indices[i] = 0;
  }
}

template <class T>
void copy_rows(const MapPair& maps, std::int64_t elements, const T* from, T* to) {
  const MapAxis &source = maps.from.axes.back(), &target = maps.to.axes.back();
  const std::int64_t row = source.extent;
  if (elements == 0) return;
  parallel_ranges(elements / row, std::max<std::int64_t>(1, kGrain / row),
                  [&](std::int64_t begin, std::int64_t end) {
                    Dims indices = indices_of_row(maps.from, begin);
                    for (std::int64_t i = begin; i < end; ++i, advance(maps.from, indices)) {
                      const T* const x = from + offset(maps.from, indices);
                      T* const y = to + offset(maps.to, indices);
                      for (std::int64_t k = 0; k < row; ++k)
                        y[target.offset(k)] = x[source.offset(k)];
                    }
                  });
}

void copy_elements(std::size_t bytes, const MapPair& maps, std::int64_t elements, const void* from,
                   void* to) {
  visit_width(bytes, [&]<class T>(T) {
    copy_rows(maps, elements, static_cast<const T*>(from), static_cast<T*>(to));
  });
}

Launch prepare(const Problem& problem) {
  const TensorDesc &x = problem.inputs[0], &y = problem.outputs[0];
  const auto maps = std::make_shared<const MapPair>(matched_maps(x, y));
  const std::size_t cleared = has_padding(y) ? y.bytes() : 0;
  return
      [maps, cleared, bytes = size_of(x.dtype), elements = x.elements()](const KernelArgs& args) {
        clear(args.outputs[0], cleared);
        copy_elements(bytes, *maps, elements, args.inputs[0], args.outputs[0]);
      };
}

const RegisteredKernel native{{
    .op = "trans_data",
    .name = "native",
    .provider = Provider::framework,
    .summary = "cleared, then element by element through the maps of both formats",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
