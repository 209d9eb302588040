/* Kernels in a shared library for `opbench --kernels libmine.so`. C11, no other header is needed.
 *
 * The library exports opbench_plugin(), which returns its kernels. opbench loads it in a process of
 * its own. Functions return 0, or another value after which `error` explains the failure. All
 * functions are called by one thread.
 *
 * DLTensor is that of DLPack: a program with <dlpack/dlpack.h> includes it before this file. */
#ifndef OPBENCH_PLUGIN_H
#define OPBENCH_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A library of another major version is refused. Minor versions append members to OpbenchCase,
 * OpbenchKernel and OpbenchPlugin. */
#define OPBENCH_PLUGIN_MAJOR 1
#define OPBENCH_PLUGIN_MINOR 0

#ifndef DLPACK_DLPACK_H_
typedef struct {
  int32_t device_type; /* 1: CPU */
  int32_t device_id;
} DLDevice;

typedef struct {
  /* 0 int, 1 uint, 2 float, 3 hif8, 4 bfloat, 6 bool, 10 float8_e4m3fn, 12 float8_e5m2,
   * 14 float8_e8m0fnu */
  uint8_t code;
  uint8_t bits; /* int4 has 4, and one byte for each element */
  uint16_t lanes;
} DLDataType;

typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements */
  uint64_t byte_offset;
} DLTensor;
#endif

enum { OPBENCH_INT, OPBENCH_FLOAT, OPBENCH_BOOL, OPBENCH_TEXT, OPBENCH_INTS };

/* An attribute of the operator. */
typedef struct {
  const char* name;
  int32_t kind;
  int64_t integer;     /* OPBENCH_INT, OPBENCH_BOOL */
  double number;       /* OPBENCH_FLOAT, OPBENCH_INT */
  const char* text;    /* OPBENCH_TEXT */
  const int64_t* ints; /* OPBENCH_INTS */
  size_t ints_count;
} OpbenchAttr;

/* One use of an operator, valid until `close`. The shapes are those of the storage: five axes for
 * NC1HWC0. The data of tensors is NULL in `refuse` and `prepare`. An optional input that is not
 * given has shape [0]. */
typedef struct {
  const char* op;
  const DLTensor* inputs;
  const char* const* input_formats; /* "ND", "NCHW", "NC1HWC0" .. */
  size_t input_count;
  const DLTensor* outputs;
  const char* const* output_formats;
  size_t output_count;
  const OpbenchAttr* attrs;
  size_t attr_count;
  int32_t threads; /* that the kernel may use */
  const struct OpbenchKernel* kernel;
} OpbenchCase;

/* One kernel. All but `op`, `name` and `call` may be NULL. */
typedef struct OpbenchKernel {
  const char* op;      /* operator of `opbench list`: "softplus" */
  const char* name;    /* of the variant: "mine" */
  const char* summary; /* one line */
  const char* dtypes;  /* "fp32,fp16"; NULL: all of the operator's */
  const char* formats; /* "ND,NC1HWC0"; NULL: formats without padding */
  /* Returns the reason why the kernel does not take the case, or NULL. */
  const char* (*refuse)(const OpbenchCase* use);
  /* Compiles, allocates. *state is passed to the functions below. */
  int (*prepare)(const OpbenchCase* use, void** state);
  /* Copies the inputs to the device. Not timed. */
  int (*load)(void* state, const DLTensor* inputs);
  /* Computes all outputs. Required. A device may only start the work. */
  int (*call)(void* state, const DLTensor* inputs, DLTensor* outputs);
  /* Waits for the work of `call`; timed. Stores the seconds by the device's events, or a negative
   * number without events. */
  int (*wait)(void* state, double* device_seconds);
  /* Copies the outputs from the device. Not timed. */
  int (*fetch)(void* state, DLTensor* outputs);
  void (*close)(void* state);
  const void* own; /* for the library: opbench does not use it */
} OpbenchKernel;

typedef struct {
  uint32_t major, minor; /* OPBENCH_PLUGIN_MAJOR, OPBENCH_PLUGIN_MINOR */
  size_t kernel_bytes;   /* sizeof(OpbenchKernel) */
  const OpbenchKernel* kernels;
  size_t kernel_count;
  const char* device;         /* "cpu", "opencl:0"; NULL: "cpu" */
  const char* hardware;       /* name of the device; may be NULL */
  const char* software;       /* name and version of its library; may be NULL */
  int32_t device_type;        /* as in DLDevice; 0: 1 */
  const char* (*error)(void); /* explains the last failure; may be NULL */
  int (*evict)(void);         /* empties the caches of the device; may be NULL */
} OpbenchPlugin;

#if defined(_WIN32)
#define OPBENCH_PLUGIN_EXPORT __declspec(dllexport)
#else
#define OPBENCH_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* Exported by the library. NULL if it cannot be used here. */
OPBENCH_PLUGIN_EXPORT const OpbenchPlugin* opbench_plugin(void);

/* The attribute of this name, or NULL. */
static inline const OpbenchAttr* opbench_attr(const OpbenchCase* use, const char* name) {
  for (size_t i = 0; i < use->attr_count; ++i) {
    if (strcmp(use->attrs[i].name, name) == 0) return &use->attrs[i];
  }
  return NULL;
}

/* The value of an attribute, or `otherwise` if it does not exist or is of another kind. */
static inline double opbench_attr_number(const OpbenchCase* use, const char* name,
                                         double otherwise) {
  const OpbenchAttr* attr = opbench_attr(use, name);
  if (attr == NULL || (attr->kind != OPBENCH_FLOAT && attr->kind != OPBENCH_INT)) return otherwise;
  return attr->number;
}

static inline int64_t opbench_attr_integer(const OpbenchCase* use, const char* name,
                                           int64_t otherwise) {
  const OpbenchAttr* attr = opbench_attr(use, name);
  if (attr == NULL || (attr->kind != OPBENCH_INT && attr->kind != OPBENCH_BOOL)) return otherwise;
  return attr->integer;
}

static inline const char* opbench_attr_text(const OpbenchCase* use, const char* name,
                                            const char* otherwise) {
  const OpbenchAttr* attr = opbench_attr(use, name);
  return attr != NULL && attr->kind == OPBENCH_TEXT ? attr->text : otherwise;
}

/* Elements of a tensor, with padding. */
static inline int64_t opbench_elements(const DLTensor* tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i) count *= tensor->shape[i];
  return count;
}

#ifdef __cplusplus
}
#endif

#endif
