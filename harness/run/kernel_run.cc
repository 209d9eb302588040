#include "harness/run/kernel_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/elements.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

constexpr std::size_t kPage = 4096, kRoom = 256;

std::size_t dense_bytes(const TensorDesc& desc) {
  return static_cast<std::size_t>(desc.elements()) * size_of(desc.dtype);
}

bool is_wanted(double corner, const Op& op, InputRange range, DType dtype) {
  constexpr double kLargestTerm = 128;  // as in input_values.cc
  const bool is_finite = std::isfinite(corner);
  if (!is_finite) return range == InputRange::any && !op.mixes_elements();
  if (op.mixes_elements() && std::fabs(corner) > kLargestTerm) return false;
  return range != InputRange::normal || corner == 0 || std::fabs(corner) >= smallest_normal(dtype);
}

// Puts corners at every third element, so that each corner has other neighbours. Each input begins
// with another corner.
void add_corners(const Problem& problem, std::size_t input, InputRange range, Elements& elements) {
  const TensorDesc& desc = problem.inputs[input];
  std::vector<double> corners = corner_values(problem);
  std::erase_if(corners, [&](double c) { return !is_wanted(c, *problem.op, range, desc.dtype); });
  const std::size_t size = size_of(desc.dtype);
  const std::size_t count = std::min(corners.size(), static_cast<std::size_t>(desc.elements()) / 4);
  for (std::size_t k = 0; k < count; ++k) {
    from_doubles(desc.dtype, &corners[k], 1, elements.data() + (3 * k + input % 3) * size);
  }
}

/// Selects an instruction set, and restores the previous one at the end.
class IsaScope {
 public:
  explicit IsaScope(const std::string& isa) : before_(isa.empty() ? "" : current_isa()) {
    if (!isa.empty()) select_isa(isa);
  }
  IsaScope(const IsaScope&) = delete;
  IsaScope& operator=(const IsaScope&) = delete;
  ~IsaScope() {
    if (!before_.empty()) select_isa(before_);
  }

 private:
  std::string before_;
};

}  // namespace

InputElements elements_of(const Case& c, const Problem& problem, std::uint64_t seed,
                          std::optional<InputRange> corners) {
  const std::vector<Distribution> data = input_data(c, problem);
  InputElements all;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    Elements elements(dense_bytes(desc));
    generate(data[i], seed + 0x9E3779B97F4A7C15 * i, desc.dtype, desc.elements(),
             {0, desc.elements()}, elements.data());
    const TensorSpec& spec = problem.op->input(i);
    const bool takes_corners = !spec.has_own_dtype() && spec.data == nullptr;
    if (corners && takes_corners) add_corners(problem, i, *corners, elements);
    all.push_back(std::move(elements));
  }
  return all;
}

PlacedTensor::PlacedTensor(const TensorDesc& desc, std::size_t offset, int around, int fill)
    : desc_(desc), memory_(desc.bytes() + 2 * kPage + offset + 2 * kRoom) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + kRoom;
  begin_ = kRoom + (kPage - address % kPage) % kPage + offset;
  std::memset(memory_.data(), around, memory_.size());
  std::memset(data(), fill, desc.bytes());
}

Elements PlacedTensor::elements() const {
  Elements elements(dense_bytes(desc_));
  read_elements(desc_, data(), {0, desc_.elements()}, elements.data());
  return elements;
}

void PlacedTensor::write(const Elements& elements) const {
  write_elements(desc_, data(), {0, desc_.elements()}, elements.data());
}

std::vector<Elements> run_kernel_on(const Kernel& kernel, const Problem& problem,
                                    const InputElements& inputs, const Surroundings& how) {
  std::vector<PlacedTensor> given, results;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    given.emplace_back(problem.inputs[i], how.offset, how.around, 0).write(inputs[i]);
    from.push_back(given.back().data());
  }
  for (const TensorDesc& output : problem.outputs) {
    to.push_back(results.emplace_back(output, how.offset, how.around, how.before).data());
  }
  const IsaScope scope(how.isa);
  with_threads(how.threads, [&] { kernel.prepare(problem)({from, to}); });
  std::vector<Elements> elements;
  for (const PlacedTensor& result : results) elements.push_back(result.elements());
  return elements;
}

}  // namespace opbench
