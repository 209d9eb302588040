/* softplus in C: log(1 + exp(beta * x)) / beta, and x above the threshold. */
#include <math.h>
#include <opbench/opbench_plugin.h>
#include <stdlib.h>

typedef struct {
  float beta, threshold;
} Softplus;

static const char* refuse(const OpbenchCase* use) {
  return opbench_attr_number(use, "beta", 1) > 0 ? NULL : "it takes a beta above 0 only";
}

static int prepare(const OpbenchCase* use, void** state) {
  Softplus* made = malloc(sizeof *made);
  if (made == NULL) return 1;
  made->beta = (float)opbench_attr_number(use, "beta", 1);
  made->threshold = (float)opbench_attr_number(use, "threshold", 20);
  *state = made;
  return 0;
}

static int call(void* state, const DLTensor* inputs, DLTensor* outputs) {
  const Softplus* softplus = state;
  const float* x = inputs[0].data;
  float* y = outputs[0].data;
  const int64_t count = opbench_elements(&outputs[0]);
  for (int64_t i = 0; i < count; ++i) {
    const float t = softplus->beta * x[i];
    y[i] = t > softplus->threshold ? x[i] : log1pf(expf(t)) / softplus->beta;
  }
  return 0;
}

static const OpbenchKernel kernels[] = {
    {.op = "softplus",
     .name = "mine",
     .summary = "log1p(exp(beta*x))/beta, a loop",
     .dtypes = "fp32",
     .refuse = refuse,
     .prepare = prepare,
     .call = call,
     .close = free},
};

static const OpbenchPlugin plugin = {.major = OPBENCH_PLUGIN_MAJOR,
                                     .minor = OPBENCH_PLUGIN_MINOR,
                                     .kernel_bytes = sizeof(OpbenchKernel),
                                     .kernels = kernels,
                                     .kernel_count = sizeof kernels / sizeof *kernels};

const OpbenchPlugin* opbench_plugin(void) { return &plugin; }
