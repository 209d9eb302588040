// Kernels in OpenCL for `opbench --kernels`: softplus, add and channel_shuffle. See README.md.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <opbench/opbench_plugin.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

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

std::string failure;  // of the last function
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

template <typename Function>
int guarded(const Function& function) {
  try {
    function();
    return 0;
  } catch (const std::exception& error) {
    failure = error.what();
    return 1;
  }
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

struct Session {
  cl_program program = nullptr;
  cl_kernel kernel = nullptr;
  std::vector<cl_mem> inputs, outputs;
  std::size_t work_items = 0;
  cl_event event = nullptr;

  ~Session() {
    if (event) clReleaseEvent(event);
    for (cl_mem buffer : inputs) clReleaseMemObject(buffer);
    for (cl_mem buffer : outputs) clReleaseMemObject(buffer);
    if (kernel) clReleaseKernel(kernel);
    if (program) clReleaseProgram(program);
  }
};

void compile(const OpbenchCase& use, Session& session) {
  const char* text = source;
  session.program =
      created("clCreateProgramWithSource", clCreateProgramWithSource, context, 1u, &text, nullptr);
  const char* options = use.inputs[0].dtype.bits == 16 ? "-D HALF" : "";
  const cl_int code = clBuildProgram(session.program, 1, &device, options, nullptr, nullptr);
  if (code != CL_SUCCESS) {
    std::string log((1 << 16) + 1, '\0');
    clGetProgramBuildInfo(session.program, device, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(),
                          nullptr);
    log.resize(log.find('\0'));
    const std::size_t at = std::min(log.find("error"), log.size());  // of the line to show
    const std::size_t begin = log.rfind('\n', at) + 1;
    check(code, "clBuildProgram: " + log.substr(begin, log.find('\n', at) - begin));
  }
  session.kernel = created("clCreateKernel", clCreateKernel, session.program, use.op);
}

// The buffers of the tensors are the first arguments of a kernel, numbers follow.
void set_arguments(const OpbenchCase& use, Session& session) {
  cl_uint count = 0;
  const auto pass = [&](const auto& value) {
    check(clSetKernelArg(session.kernel, count++, sizeof value, &value), "clSetKernelArg");
  };
  for (std::size_t k = 0; k < use.input_count; ++k) {
    pass(session.inputs.emplace_back(allocate(bytes_of(use.inputs[k]))));
  }
  pass(session.outputs.emplace_back(allocate(bytes_of(use.outputs[0]))));
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

const char* refuse(const OpbenchCase* use) {
  for (std::size_t k = 0; k < use->input_count; ++k) {
    const DLTensor &x = use->inputs[k], &y = use->outputs[0];
    if (x.dtype.bits != y.dtype.bits) return "it takes inputs of the output's dtype only";
    if (!std::equal(x.shape, x.shape + x.ndim, y.shape, y.shape + y.ndim)) {
      return "it does not broadcast";
    }
    if (opbench_elements(&x) == 0) return "OpenCL has no empty buffers";
  }
  return nullptr;
}

int prepare(const OpbenchCase* use, void** state) {
  return guarded([&] {
    if (!queue) open_device();
    auto session = std::make_unique<Session>();
    compile(*use, *session);
    set_arguments(*use, *session);
    session->work_items = std::size_t(opbench_elements(use->outputs));
    *state = session.release();
  });
}

int load(void* state, const DLTensor* inputs) {
  return guarded([&] {
    for (cl_mem buffer : static_cast<Session*>(state)->inputs) {
      check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes_of(*inputs), inputs->data, 0,
                                 nullptr, nullptr),
            "clEnqueueWriteBuffer");
      ++inputs;
    }
  });
}

int call(void* state, const DLTensor*, DLTensor*) {
  return guarded([&] {
    Session& session = *static_cast<Session*>(state);
    if (session.event) clReleaseEvent(session.event);
    session.event = nullptr;
    check(clEnqueueNDRangeKernel(queue, session.kernel, 1, nullptr, &session.work_items, nullptr, 0,
                                 nullptr, &session.event),
          "clEnqueueNDRangeKernel");
  });
}

double profiled_seconds(cl_event event, cl_profiling_info when) {
  cl_ulong nanoseconds = 0;
  check(clGetEventProfilingInfo(event, when, sizeof nanoseconds, &nanoseconds, nullptr),
        "clGetEventProfilingInfo");
  return double(nanoseconds) * 1e-9;
}

// The status of a kernel that failed on the device is negative.
int wait(void* state, double* device_seconds) {
  return guarded([&] {
    const cl_event event = static_cast<Session*>(state)->event;
    const cl_int waited = clWaitForEvents(1, &event);
    cl_int status = CL_COMPLETE;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    check(status < 0 ? status : waited, "the kernel failed on the device");
    *device_seconds = profiled_seconds(event, CL_PROFILING_COMMAND_END) -
                      profiled_seconds(event, CL_PROFILING_COMMAND_START);
  });
}

int fetch(void* state, DLTensor* outputs) {
  return guarded([&] {
    check(clEnqueueReadBuffer(queue, static_cast<Session*>(state)->outputs[0], CL_TRUE, 0,
                              bytes_of(*outputs), outputs->data, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  });
}

void close(void* state) { delete static_cast<Session*>(state); }

// Writes four times the size of the device's cache, at least 64 MiB.
int evict() {
  return guarded([] {
    cl_ulong cache = 0;
    clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache, nullptr);
    static const std::size_t bytes = std::max<std::size_t>(4 * cache, 64 << 20);
    static const cl_mem buffer = allocate(bytes);
    static cl_uchar value = 0;
    ++value;
    check(clEnqueueFillBuffer(queue, buffer, &value, 1, 0, bytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    check(clFinish(queue), "clFinish");
  });
}

constexpr OpbenchKernel row(const char* op) {
  OpbenchKernel kernel{};
  kernel.op = op;
  kernel.name = "opencl";
  kernel.summary = "one work item for each element";
  kernel.dtypes = "fp32,fp16";
  kernel.refuse = refuse;
  kernel.prepare = prepare;
  kernel.load = load;
  kernel.call = call;
  kernel.wait = wait;
  kernel.fetch = fetch;
  kernel.close = close;
  return kernel;
}

constexpr OpbenchKernel kernels[] = {row("softplus"), row("add"), row("channel_shuffle")};

}  // namespace

// Without a device the kernels stay, and `prepare` fails with the reason.
const OpbenchPlugin* opbench_plugin() {
  static char hardware[256] = "", software[256] = "";
  if (guarded(open_device) == 0) {
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof hardware, hardware, nullptr);
    clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof software, software, nullptr);
  }
  static OpbenchPlugin plugin{};
  plugin.major = OPBENCH_PLUGIN_MAJOR;
  plugin.minor = OPBENCH_PLUGIN_MINOR;
  plugin.kernel_bytes = sizeof(OpbenchKernel);
  plugin.kernels = kernels;
  plugin.kernel_count = std::size(kernels);
  plugin.device = "opencl:0";
  plugin.hardware = hardware;
  plugin.software = software;
  plugin.device_type = 4;
  plugin.error = [] { return failure.c_str(); };
  plugin.evict = evict;
  return &plugin;
}
