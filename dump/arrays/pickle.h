#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Kind of a pickled value. `call` is a recorded call of a global, which is never run.
enum class PickleKind {
  none,
  boolean,
  integer,
  real,
  text,  ///< also bytes
  list,
  tuple,
  dict,        ///< items: key, value, key, value
  global,      ///< text: "torch._utils._rebuild_tensor_v2"
  persistent,  ///< items: the reference to an object outside of the pickle
  call,        ///< items: a global, a tuple of arguments
};

struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::int64_t integer = 0;  ///< also the value of booleans
  double real = 0;
  std::string text;
  std::vector<int> items;  ///< indices in Pickle::values
};

/// An object described by a Python pickle. Values may be shared, and may contain themselves.
struct Pickle {
  std::vector<PickleValue> values;
  int root = 0;
  std::int64_t end = 0;  ///< offset of the end, in bytes from the start of the first pickle
};

/// Reads bytes [offset, offset + count) of the pickle data.
using ReadBytes = std::function<void(std::int64_t offset, std::size_t count, void* to)>;

/// Reads the pickle at offset `start` of data with `bytes` bytes. No code is run: globals are kept
/// as names. Globals that `is_allowed` refuses are an error, and so are operations that tensors do
/// not need. State set on an object is dropped.
/// Errors: throws Error "pickle, byte {n}: ...".
Pickle read_pickle(const ReadBytes& read, std::int64_t start, std::int64_t bytes,
                   const std::function<bool(std::string_view name)>& is_allowed);

}  // namespace opbench
