#include "kernels/onednn/primitive.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tensor/parallel.h"

namespace opbench::onednn {
namespace {

using Type = dnnl::memory::data_type;

Type data_type(DType dtype) { return dtype == DType::bf16 ? Type::bf16 : Type::f32; }

// A step with memory objects that get addresses in each call. The map shares them.
struct BoundStep {
  dnnl::primitive primitive;
  std::vector<std::pair<dnnl::memory, std::size_t>> inputs, outputs;
  std::unordered_map<int, dnnl::memory> named;

  explicit BoundStep(const Step& step) : primitive(step.primitive) {
    bind(step.inputs, inputs);
    bind(step.outputs, outputs);
  }
  void bind(const std::vector<Argument>& arguments,
            std::vector<std::pair<dnnl::memory, std::size_t>>& memories) {
    for (const auto& [name, desc, position] : arguments) {
      memories.emplace_back(dnnl::memory(desc, engine(), DNNL_MEMORY_NONE), position);
      named.emplace(name, memories.back().first);
    }
  }
  void run(const KernelArgs& args) {
    for (auto& [memory, i] : inputs) memory.set_data_handle(const_cast<void*>(args.inputs[i]));
    for (auto& [memory, i] : outputs) memory.set_data_handle(args.outputs[i]);
    primitive.execute(stream(), named);
  }
};

// The function of a launch, which provides its steps.
struct BoundSteps {
  std::shared_ptr<std::vector<BoundStep>> steps;

  void operator()(const KernelArgs& args) const {
    match_threads();
    for (BoundStep& step : *steps) step.run(args);
    stream().wait();
  }
};

// The note for a primitive's impl_info_str().
std::string implementation_note(std::string_view implementation) {
  if (!implementation.starts_with("ref") && !implementation.starts_with("simple")) return {};
  return fmt::format("oneDNN's reference implementation ({}), not tuned for speed", implementation);
}

bool has_bf16() { return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core; }

// Integers may also be moved.
std::optional<Type> moved_type(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return Type::f32;
    case DType::bf16:
      return Type::bf16;
    case DType::int32:
      return Type::s32;
    case DType::int8:
      return Type::s8;
    case DType::uint8:
    case DType::boolean:
      return Type::u8;
    default:
      return {};
  }
}

}  // namespace

std::string refusal(const TensorDesc& desc) {
  if (desc.dtype == DType::bf16 && !has_bf16()) return "oneDNN has bf16 from AVX-512 on only";
  if (desc.dtype != DType::fp32 && desc.dtype != DType::bf16) {
    return fmt::format("oneDNN {}.{} has no {} on the CPU", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR,
                       name(desc.dtype));
  }
  if (desc.format == Format::NC1HWC0 && desc.c0 != 16) {
    return fmt::format("oneDNN blocks channels by 16, found {}", desc.c0);
  }
  if (desc.elements() == 0) return "oneDNN takes no empty tensors here";
  return {};
}

dnnl::memory::desc memory_desc(const TensorDesc& desc) {
  using Tag = dnnl::memory::format_tag;
  if (desc.format == Format::NC1HWC0) {
    return {expand_to_nchw(desc.shape), data_type(desc.dtype), Tag::nChw16c};
  }
  if (desc.format == Format::FRACTAL_Z || desc.format == Format::FRACTAL_NZ) {
    return {{desc.storage_elements()}, data_type(desc.dtype), Tag::a};
  }
  if (desc.shape.size() == 4) return {desc.shape, data_type(desc.dtype), Tag::nchw};
  return {{desc.elements()}, data_type(desc.dtype), Tag::a};
}

const dnnl::engine& engine() {
  static const dnnl::engine cpu = [] {
    // Every case makes its own primitives. Cached, they would fill the memory in a long run.
    dnnl::set_primitive_cache_capacity(0);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return cpu;
}

dnnl::stream& stream() {
  static dnnl::stream cpu(engine());
  return cpu;
}

Launch launch(const std::vector<Step>& steps) {
  auto bound = std::make_shared<std::vector<BoundStep>>();
  for (const Step& step : steps) bound->emplace_back(step);
  return BoundSteps{std::move(bound)};
}

std::string launch_note(const Launch& launch) {
  const auto* const bound = launch.target<BoundSteps>();
  if (bound == nullptr) return {};
  for (const BoundStep& step : *bound->steps) {
    const char* implementation = "";
    dnnl::error::wrap_c_api(
        dnnl_primitive_desc_query(step.primitive.get_primitive_desc(), dnnl_query_impl_info_str, 0,
                                  static_cast<void*>(&implementation)),
        "could not ask oneDNN for its implementation");
    const std::string note = implementation_note(implementation);
    if (!note.empty()) return note;
  }
  return {};
}

void match_threads() {
  if (omp_get_max_threads() != thread_count()) omp_set_num_threads(thread_count());
}

std::string movement_refusal_of(const TensorDesc& desc) {
  if (desc.dtype == DType::bf16) return refusal(desc);
  if (!moved_type(desc.dtype)) {
    return fmt::format("oneDNN {}.{} has no {} on the CPU", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR,
                       name(desc.dtype));
  }
  TensorDesc of_any_type = desc;
  of_any_type.dtype = DType::fp32;
  return refusal(of_any_type);
}

std::string movement_refusal(const Problem& problem) {
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& tensor : *tensors) {
      if (tensor.shape.size() > 6) {
        return fmt::format("oneDNN is used for up to 6 dimensions here, found {}",
                           tensor.shape.size());
      }
      if (const std::string reason = movement_refusal_of(tensor); !reason.empty()) return reason;
    }
  }
  return {};
}

std::string blocks_refusal(std::span<const TensorDesc> parts, std::size_t axis) {
  for (const TensorDesc& part : parts) {
    if (part.format != Format::NC1HWC0 || stored_axis(part, axis) != 1) continue;
    const std::int64_t channels = part.shape[axis];
    if (channels % 16 != 0) {
      return fmt::format("oneDNN joins and cuts nChw16c at multiples of 16 channels, found {}",
                         channels);
    }
  }
  return {};
}

dnnl::memory::desc axes_desc(const TensorDesc& desc) {
  if (desc.format != Format::NC1HWC0) return view_desc(desc.dtype, dense_view(desc.shape));
  return {expand_to_nchw(desc.shape), *moved_type(desc.dtype), dnnl::memory::format_tag::nChw16c};
}

dnnl::memory::desc view_desc(DType dtype, const StridedView& view) {
  if (view.shape.empty()) return {{1}, *moved_type(dtype), dnnl::memory::dims{1}};
  return {view.shape, *moved_type(dtype), view.strides};
}

std::size_t stored_axis(const TensorDesc& desc, std::size_t axis) {
  const bool is_expanded = desc.format == Format::NC1HWC0 && desc.shape.size() < 4;
  return is_expanded ? axis + 1 : axis;
}

}  // namespace opbench::onednn
