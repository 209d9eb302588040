/* The kernels of cheats.c as functions of TVM-FFI. */
#define opbench_plugin table_of_c
#include "tests/kernels/foreign/cheats/cheats.c"

/* TVMFFIAny that holds a tensor. */
typedef struct {
  int32_t type;
  uint32_t padding;
  DLTensor* tensor;
} Argument;

void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);

/* A process runs one of the kernels, on one shape. */
static int run(Work* work, const Argument* arguments) {
  static void* state;
  const Row row = {"", work};
  const OpbenchKernel kernel = {.own = &row};
  const OpbenchCase use = {.inputs = arguments[0].tensor, .kernel = &kernel};
  if (state == NULL) prepare(&use, &state);
  if (call(state, arguments[0].tensor, arguments[1].tensor) == 0) return 0;
  TVMFFIErrorSetRaisedFromCStr("Error", failure);
  return -1;
}

#define FUNCTION(name)                                                                       \
  int __tvm_ffi_##name(void* self, const Argument* arguments, int32_t count, void* result) { \
    return (void)self, (void)count, (void)result, run(name, arguments);                      \
  }
CHEATS(FUNCTION)
