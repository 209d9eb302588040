#pragma once

#include <cstddef>
#include <cstdint>

#include "opbench/opbench_plugin.h"

namespace opbench::guest {

// Types of TVM-FFI's C interface (apache/tvm-ffi, include/tvm/ffi/c_api.h), under other names.

enum TvmType : std::int32_t {
  kTvmNone = 0,
  kTvmInt = 1,
  kTvmBool = 2,
  kTvmFloat = 3,
  kTvmTensor = 7,  // DLTensor*
  kTvmText = 8,    // const char*
  kTvmFirstObject = 64,
  kTvmError = 67,
  kTvmShape = 69,
};

/// Begins every object. The strong references are the low 32 bits of the count.
struct TvmObject {
  std::uint64_t references;
  std::int32_t type;
  std::uint32_t padding;
  void (*destroy)(void* self, int flags);
};
static_assert(sizeof(TvmObject) == 24);

/// An argument or a result.
struct TvmAny {
  std::int32_t type;
  std::uint32_t padding;
  union {
    std::int64_t integer;
    double number;
    const void* pointer;
    TvmObject* object;
  };
};
static_assert(sizeof(TvmAny) == 16);

struct TvmBytes {
  const char* data;
  std::size_t size;
};

/// An error begins with these members; libraries of newer releases append others.
struct TvmErrorHead {
  TvmObject object;
  TvmBytes kind, message, backtrace;
};

/// A list of integers.
struct TvmIntegers {
  TvmObject object;
  const std::int64_t* data;
  std::size_t size;
};

/// Returns 0, -1 with a raised error, or -2 with an error of a front end.
using TvmFunction = int (*)(void* handle, const TvmAny* arguments, std::int32_t count,
                            TvmAny* result);

/// Releases one reference to an object; it may be null.
void release(TvmObject* object);

}  // namespace opbench::guest
