/* softplus as a function of TVM-FFI, without its headers and its library. */
#include <math.h>
#include <opbench/opbench_plugin.h>

/* TVMFFIAny of tvm/ffi/c_api.h. */
typedef struct {
  int32_t type; /* 1 int, 3 float, 7 DLTensor* */
  uint32_t padding;
  union {
    int64_t integer;
    double number;
    DLTensor* tensor;
  } value;
} Any;

void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);

static int fail(const char* message) {
  TVMFFIErrorSetRaisedFromCStr("ValueError", message);
  return -1;
}

/* Its arguments are the inputs, the attributes and the outputs of the operator. */
int __tvm_ffi_softplus(void* handle, const Any* args, int32_t count, Any* result) {
  (void)handle, (void)result;
  if (count != 4 || args[0].type != 7 || args[1].type != 3 || args[2].type != 3 ||
      args[3].type != 7)
    return fail("the arguments are x, beta, threshold, y");
  const DLTensor* inputs = args[0].value.tensor;
  if (inputs->dtype.code != 2 || inputs->dtype.bits != 32) return fail("x must be fp32");
  const float* x = inputs->data;
  float* y = args[3].value.tensor->data;
  const float beta = (float)args[1].value.number, threshold = (float)args[2].value.number;
  const int64_t elements = opbench_elements(inputs);
  for (int64_t i = 0; i < elements; ++i) {
    const float t = beta * x[i];
    y[i] = t > threshold ? x[i] : log1pf(expf(t)) / beta;
  }
  return 0;
}
