/* A library that is wrong in the way that the environment variable WRONG names. */
#include <opbench/opbench_plugin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int wrong(const char* way) {
  const char* chosen = getenv("WRONG");
  return chosen != NULL && strcmp(chosen, way) == 0;
}

static const char* error(void) { return wrong("unexplained") ? NULL : "the kernel explains"; }

static int evictions = 0;
static int evict(void) {
  ++evictions;
  return 0;
}

static int prepare(const OpbenchCase* use, void** state) {
  (void)state;
  if (use->inputs[0].data != NULL || use->kernel->own != (const void*)error) return 9;
  return wrong("prepare") ? 4 : 0;
}

static void* sleep_on(void* ignored) {
  pause();
  return ignored;
}

static int call(void* state, const DLTensor* inputs, DLTensor* outputs) {
  (void)state;
  printf("a line of the kernel\n");
  if (wrong("exit")) exit(3);
  if (wrong("crash")) abort();
  if (wrong("reads")) return getchar() == EOF ? 0 : 5;
  pthread_t thread;
  if (wrong("thread")) pthread_create(&thread, NULL, sleep_on, NULL);
  ((float*)outputs[0].data)[0] = ((const float*)inputs[0].data)[0] + (float)evictions;
  return wrong("call") || wrong("unexplained") ? 5 : 0;
}

static int wait_for_it(void* state, double* device_seconds) {
  (void)state;
  *device_seconds = 0.25;
  return 0;
}

const OpbenchPlugin* opbench_plugin(void) {
  static OpbenchKernel kernel = {.op = "softplus", .name = "odd", .dtypes = "fp32, fp16"};
  static OpbenchPlugin plugin = {.major = 1, .kernel_bytes = sizeof kernel, .kernel_count = 1};
  kernel.prepare = prepare;
  kernel.call = wrong("no call") ? NULL : call;
  kernel.wait = wait_for_it;
  kernel.own = (const void*)error;
  if (wrong("no name")) kernel.name = NULL;
  if (wrong("no op")) kernel.op = "";
  plugin.kernels = wrong("no kernels") ? NULL : &kernel;
  plugin.error = error;
  plugin.evict = evict;
  if (wrong("major")) plugin.major = 2;
  if (wrong("bytes")) plugin.kernel_bytes -= 8;
  if (wrong("newer")) plugin.minor = 7;
  if (wrong("newer bytes")) plugin.minor = 7, plugin.kernel_bytes -= 8;
  if (wrong("many")) plugin.kernel_count = 10001;
  return wrong("null") ? NULL : &plugin;
}
