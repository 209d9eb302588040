// The functions of libtvm_ffi.so that kernels import: errors, the current stream, names of types. A
// library that is not linked with libtvm_ffi.so finds them in this program.
#include <atomic>
#include <iterator>
#include <string>
#include <utility>

#include "opbench/guest/tvm_abi.h"

namespace opbench::guest {
namespace {

constexpr std::uint64_t kStrong = 1, kWeak = std::uint64_t(1) << 32;
constexpr int kDestroyBoth = 3;  // bit 0: no strong reference is left; bit 1: no weak one

std::atomic_ref<std::uint64_t> references_of(TvmObject* object) {
  return std::atomic_ref<std::uint64_t>(object->references);
}

/// An error with its texts. Members after the head are those of the interface, unused here.
struct OwnError {
  TvmErrorHead head = {};
  void (*update_backtrace)(void*, const TvmBytes*, std::int32_t) = [](void*, const TvmBytes*,
                                                                      std::int32_t) {};
  void* cause = nullptr;
  void* context = nullptr;
  std::string kind, message;
};

TvmObject* new_error(std::string kind, std::string message) {
  auto* error = new OwnError;
  error->kind = std::move(kind);
  error->message = std::move(message);
  error->head.object = {kStrong | kWeak, kTvmError, 0,
                        [](void* self, int) { delete static_cast<OwnError*>(self); }};
  error->head.kind = {error->kind.data(), error->kind.size()};
  error->head.message = {error->message.data(), error->message.size()};
  error->head.backtrace = {"", 0};
  return &error->head.object;
}

thread_local TvmObject* raised = nullptr;

void raise(TvmObject* error) { release(std::exchange(raised, error)); }

/// Begins the description of a type, of which code of TVM-FFI reads the name for messages.
struct TypeInfo {
  std::int32_t type = 0, depth = 0;
  TvmBytes name = {};
  void* unused[16] = {};
};

constexpr const char* kTypeNames[] = {"None",     "int",    "bool",      "float",      "void*",
                                      "DataType", "Device", "DLTensor*", "const char*"};

}  // namespace

void release(TvmObject* object) {
  if (!object || (references_of(object).fetch_sub(kStrong) & (kWeak - 1)) != 1) return;
  if (object->destroy) object->destroy(object, kDestroyBoth);
}

}  // namespace opbench::guest

using opbench::guest::TvmBytes;
using opbench::guest::TvmObject;

extern "C" {

void TVMFFIErrorMoveFromRaised(void** result) {
  *result = std::exchange(opbench::guest::raised, nullptr);
}

void TVMFFIErrorSetRaised(void* error) {
  auto* object = static_cast<TvmObject*>(error);
  opbench::guest::references_of(object).fetch_add(opbench::guest::kStrong);
  opbench::guest::raise(object);
}

void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) {
  opbench::guest::raise(opbench::guest::new_error(kind, message));
}

void TVMFFIErrorSetRaisedFromCStrParts(const char* kind, const char** parts, std::int32_t count) {
  std::string message;
  for (std::int32_t i = 0; i < count; ++i) message += parts[i] ? parts[i] : "";
  opbench::guest::raise(opbench::guest::new_error(kind, message));
}

int TVMFFIErrorCreate(const TvmBytes* kind, const TvmBytes* message, const TvmBytes*,
                      void** result) {
  *result = opbench::guest::new_error({kind->data, kind->size}, {message->data, message->size});
  return 0;
}

int TVMFFIObjectIncRef(void* object) {
  opbench::guest::references_of(static_cast<TvmObject*>(object)).fetch_add(opbench::guest::kStrong);
  return 0;
}

int TVMFFIObjectDecRef(void* object) {
  opbench::guest::release(static_cast<TvmObject*>(object));
  return 0;
}

const TvmBytes* TVMFFIBacktrace(const char*, int, const char*, int) {
  static constexpr TvmBytes kEmpty = {"", 0};
  return &kEmpty;
}

/// The default stream of every device.
void* TVMFFIEnvGetStream(std::int32_t, std::int32_t) { return nullptr; }

int TVMFFIEnvCheckSignals() { return 0; }

const void* TVMFFIGetTypeInfo(std::int32_t type) {
  static thread_local opbench::guest::TypeInfo info;
  static thread_local std::string name;
  const bool is_named = type >= 0 && std::size_t(type) < std::size(opbench::guest::kTypeNames);
  name = is_named ? opbench::guest::kTypeNames[type] : "type " + std::to_string(type);
  info.type = type;
  info.name = {name.data(), name.size()};
  return &info;
}
}
