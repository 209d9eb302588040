// Kernels in OpenCL for `opbench --kernels`: softplus, add and channel_shuffle. See README.md.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <opbench/plugin.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace plugin = opbench::plugin;

// The arithmetic is that of float: vload_half and vstore_half need no extension. BITS is for
// copies, as a half on its way through float loses the bits of a NaN.
constexpr const char* source = R"(
#ifdef HALF
#define T half
#define BITS ushort
#define READ(x, i) vload_half(i, x)
#define WRITE(y, i, value) vstore_half(value, i, y)
#else
#define T float
#define BITS uint
#define READ(x, i) x[i]
#define WRITE(y, i, value) y[i] = value
#endif
kernel void softplus(global const T* x, global T* y, float beta, float threshold) {
  const size_t i = get_global_id(0);
  const float v = READ(x, i), p = beta * v;
  WRITE(y, i, p > threshold ? v : (fmax(p, 0.0f) + log1p(exp(-fabs(p)))) / beta);
}
kernel void add(global const T* a, global const T* b, global T* y) {
  const size_t i = get_global_id(0);
  WRITE(y, i, READ(a, i) + READ(b, i));
}
kernel void channel_shuffle(global const BITS* x, global BITS* y, ulong groups, ulong channels,
                            ulong inner) {
  const size_t i = get_global_id(0), c = i / inner % channels;
  const size_t from = c % groups * (channels / groups) + c / groups;
  y[i] = x[(i / inner / channels * channels + from) * inner + i % inner];
}
)";

cl_device_id device;
cl_context context;
cl_command_queue queue;

void check(cl_int code, const std::string& what) {
  if (code != CL_SUCCESS) throw std::runtime_error(what + ": OpenCL error " + std::to_string(code));
}

template <typename Create, typename... Args>
auto created(const char* what, Create create, Args... args) {
  cl_int code;
  const auto made = create(args..., &code);
  check(code, what);
  return made;
}

cl_mem allocate(std::size_t bytes) {
  return created("clCreateBuffer", clCreateBuffer, context, cl_mem_flags(CL_MEM_READ_WRITE), bytes,
                 nullptr);
}

// Opens the first device of the first platform. OCL_ICD_VENDORS selects another platform.
void open_device() {
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    throw std::runtime_error(
        "OpenCL has no platform with a device; Debian's package pocl-opencl-icd is one for CPUs, "
        "`clinfo -l` lists all");
  }
  context = created("clCreateContext", clCreateContext, nullptr, 1u, &device, nullptr, nullptr);
  queue = created("clCreateCommandQueue", clCreateCommandQueue, context, device,
                  cl_command_queue_properties(CL_QUEUE_PROFILING_ENABLE));
}

std::size_t bytes_of(const DLTensor& tensor) {
  return std::size_t(opbench_elements(&tensor)) * tensor.dtype.bits / 8;
}

struct State {
  cl_program program = nullptr;
  cl_kernel kernel = nullptr;
  std::vector<cl_mem> inputs, outputs;
  std::size_t work_items = 0;
  cl_event event = nullptr;

  ~State() {
    if (event) clReleaseEvent(event);
    for (cl_mem buffer : inputs) clReleaseMemObject(buffer);
    for (cl_mem buffer : outputs) clReleaseMemObject(buffer);
    if (kernel) clReleaseKernel(kernel);
    if (program) clReleaseProgram(program);
  }
};

void compile(const OpbenchCase& use, State& state) {
  const char* text = source;
  state.program =
      created("clCreateProgramWithSource", clCreateProgramWithSource, context, 1u, &text, nullptr);
  const char* options = use.inputs[0].dtype.bits == 16 ? "-D HALF" : "";
  const cl_int code = clBuildProgram(state.program, 1, &device, options, nullptr, nullptr);
  if (code != CL_SUCCESS) {
    std::string log((1 << 16) + 1, '\0');
    clGetProgramBuildInfo(state.program, device, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(),
                          nullptr);
    log.resize(log.find('\0'));
    const std::size_t at = std::min(log.find("error"), log.size());  // of the line to show
    const std::size_t begin = log.rfind('\n', at) + 1;
    check(code, "clBuildProgram: " + log.substr(begin, log.find('\n', at) - begin));
  }
  state.kernel = created("clCreateKernel", clCreateKernel, state.program, use.op);
}

// The buffers of the tensors are the first arguments of a kernel, numbers follow.
void set_arguments(const OpbenchCase& use, State& state) {
  cl_uint count = 0;
  const auto pass = [&](const auto& value) {
    check(clSetKernelArg(state.kernel, count++, sizeof value, &value), "clSetKernelArg");
  };
  for (std::size_t k = 0; k < use.input_count; ++k) {
    pass(state.inputs.emplace_back(allocate(bytes_of(use.inputs[k]))));
  }
  pass(state.outputs.emplace_back(allocate(bytes_of(use.outputs[0]))));
  if (use.op == std::string("softplus")) {
    pass(cl_float(opbench_attr_number(&use, "beta", 1)));
    pass(cl_float(opbench_attr_number(&use, "threshold", 20)));
  } else if (use.op == std::string("channel_shuffle")) {
    const DLTensor& x = use.inputs[0];
    const std::int64_t planes = x.shape[0] * x.shape[1];
    pass(cl_ulong(opbench_attr_integer(&use, "groups", 1)));
    pass(cl_ulong(x.shape[1]));
    pass(cl_ulong(opbench_elements(&x) / planes));
  }
}

std::string refuse(const OpbenchCase& use) {
  const DLTensor& y = use.outputs[0];
  for (const DLTensor *x = use.inputs, *end = x + use.input_count; x != end; ++x) {
    if (x->dtype.bits != y.dtype.bits) return "it takes inputs of the output's dtype only";
    if (!std::equal(x->shape, x->shape + x->ndim, y.shape, y.shape + y.ndim))
      return "it does not broadcast";
    if (opbench_elements(x) == 0) return "OpenCL has no empty buffers";
  }
  return "";
}

void load(const State& state, const DLTensor* inputs) {
  for (cl_mem buffer : state.inputs) {
    check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes_of(*inputs), inputs->data, 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
    ++inputs;
  }
}

void call(State& state) {
  if (state.event) clReleaseEvent(state.event);
  state.event = nullptr;
  check(clEnqueueNDRangeKernel(queue, state.kernel, 1, nullptr, &state.work_items, nullptr, 0,
                               nullptr, &state.event),
        "clEnqueueNDRangeKernel");
}

double profiled_seconds(cl_event event, cl_profiling_info when) {
  cl_ulong nanoseconds = 0;
  check(clGetEventProfilingInfo(event, when, sizeof nanoseconds, &nanoseconds, nullptr),
        "clGetEventProfilingInfo");
  return double(nanoseconds) * 1e-9;
}

// The status of a kernel that failed on the device is negative.
double wait(const State& state) {
  const cl_int waited = clWaitForEvents(1, &state.event);
  cl_int status = CL_COMPLETE;
  clGetEventInfo(state.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  check(status < 0 ? status : waited, "the kernel failed on the device");
  return profiled_seconds(state.event, CL_PROFILING_COMMAND_END) -
         profiled_seconds(state.event, CL_PROFILING_COMMAND_START);
}

void fetch(const State& state, DLTensor* outputs) {
  check(clEnqueueReadBuffer(queue, state.outputs[0], CL_TRUE, 0, bytes_of(*outputs), outputs->data,
                            0, nullptr, nullptr),
        "clEnqueueReadBuffer");
}

plugin::Session prepare(const OpbenchCase& use) {
  if (!queue) open_device();
  const auto state = std::make_shared<State>();
  compile(use, *state);
  set_arguments(use, *state);
  state->work_items = std::size_t(opbench_elements(use.outputs));
  return {[=](const DLTensor*, DLTensor*) { call(*state); },
          [=](const DLTensor* inputs) { load(*state, inputs); },
          [=](DLTensor* outputs) { fetch(*state, outputs); }, [=] { return wait(*state); }};
}

// Writes four times the size of the device's cache, at least 64 MiB.
void evict() {
  cl_ulong cache = 0;
  clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache, nullptr);
  static const std::size_t bytes = std::max<std::size_t>(4 * cache, 64 << 20);
  static const cl_mem buffer = allocate(bytes);
  static cl_uchar value = 0;
  ++value;
  check(clEnqueueFillBuffer(queue, buffer, &value, 1, 0, bytes, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  check(clFinish(queue), "clFinish");
}

// Without a device the kernels stay, and `prepare` fails with the reason.
plugin::Device described() {
  char hardware[256] = "", software[256] = "";
  try {
    open_device();
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof hardware, hardware, nullptr);
    clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof software, software, nullptr);
  } catch (const std::runtime_error&) {
  }
  return {"opencl:0", hardware, software, 4, true, evict};
}

plugin::Kernel kernel(const char* op) {
  return {op, "opencl", "one work item for each element", "fp32,fp16", "", prepare, refuse};
}

const plugin::RegisteredDevice registered_device(described());
const plugin::RegisteredKernel softplus(kernel("softplus")), add(kernel("add")),
    channel_shuffle(kernel("channel_shuffle"));

}  // namespace
