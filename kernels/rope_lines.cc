// Lines of a rotary position embedding, and the lines that share an angle.
#include "kernels/rope.h"

namespace opbench {

RotaryLines::RotaryLines(const Problem& problem)
    : mode(rotary_mode(problem.attrs)),
      dtype(problem.inputs[0].dtype),
      extent(problem.inputs[0].shape.back()),
      count(extent == 0 ? 0 : problem.inputs[0].elements() / extent),
      angles(extent == 0 ? 0 : problem.inputs[1].elements() / extent),
      view(problem.inputs[1].shape, problem.inputs[0].shape) {}

RotaryLine RotaryLines::line(const KernelArgs& args, std::int64_t i) const {
  return {mode,
          dtype,
          extent,
          at(args.inputs[0], dtype, i * extent),
          at(args.inputs[1], dtype, angle_of(i)),
          at(args.inputs[2], dtype, angle_of(i)),
          at(args.outputs[0], dtype, i * extent)};
}

SharedAngles::SharedAngles(const RotaryLines& lines)
    : lines_(static_cast<std::size_t>(lines.count)),
      first_(static_cast<std::size_t>(lines.angles) + 1) {
  const auto angle_of = [&](std::int64_t i) {
    return static_cast<std::size_t>(lines.angle_of(i) / lines.extent);
  };
  for (std::int64_t i = 0; i < lines.count; ++i) ++first_[angle_of(i) + 1];
  for (std::size_t a = 1; a < first_.size(); ++a) first_[a] += first_[a - 1];
  std::vector<std::size_t> next = first_;
  for (std::int64_t i = 0; i < lines.count; ++i) lines_[next[angle_of(i)]++] = i;
}

}  // namespace opbench
