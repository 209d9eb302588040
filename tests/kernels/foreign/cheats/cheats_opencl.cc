// The example in OpenCL with mistakes, and with tricks. cheats.txt describes them.
#define opbench_plugin table_of_the_example
#include "examples/plugin_opencl/opencl_kernels.cc"

namespace {

template <int (*function)(void*, const DLTensor*)>
int once_load(void* state, const DLTensor* inputs) {
  static int calls = 0;
  return calls++ == 0 ? function(state, inputs) : 0;
}

template <int (*function)(void*, const DLTensor*, DLTensor*)>
int once_call(void* state, const DLTensor* inputs, DLTensor* outputs) {
  static int calls = 0;
  return calls++ == 0 ? function(state, inputs, outputs) : 0;
}

int fetch_early(void* state, DLTensor* outputs) {
  return guarded([&] {
    check(clEnqueueReadBuffer(queue, static_cast<Session*>(state)->outputs[0], CL_FALSE, 0,
                              bytes_of(*outputs), outputs->data, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  });
}

int lie(void* state, double* device_seconds) {
  const int code = wait(state, device_seconds);
  *device_seconds = 1e-9;
  return code;
}

template <typename Change>
OpbenchKernel changed(const char* name, const Change& change) {
  OpbenchKernel kernel = row("softplus");
  kernel.name = name;
  change(kernel);
  return kernel;
}

const OpbenchKernel cheats[] = {
    changed("correct_opencl", [](OpbenchKernel&) {}),
    changed("no_finish", [](OpbenchKernel& kernel) { kernel.wait = nullptr; }),
    changed("fetches_early",
            [](OpbenchKernel& kernel) { kernel.wait = nullptr, kernel.fetch = fetch_early; }),
    changed("old_inputs", [](OpbenchKernel& kernel) { kernel.load = once_load<load>; }),
    changed("first_answer", [](OpbenchKernel& kernel) { kernel.call = once_call<call>; }),
    changed("lies_about_device", [](OpbenchKernel& kernel) { kernel.wait = lie; }),
};

}  // namespace

#undef opbench_plugin
extern "C" OPBENCH_PLUGIN_EXPORT const OpbenchPlugin* opbench_plugin() {
  static OpbenchPlugin plugin = *table_of_the_example();
  plugin.kernels = cheats;
  plugin.kernel_count = std::size(cheats);
  return &plugin;
}
