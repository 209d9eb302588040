#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// What a pickled value is. A `call` is a global that was called; nobody runs it here.
enum class PickleKind {
  none,
  boolean,
  integer,
  real,
  text,  ///< bytes, too
  list,
  tuple,
  dict,        ///< items: key, value, key, value
  global,      ///< text: "torch._utils._rebuild_tensor_v2"
  persistent,  ///< items: what tells an object outside of the pickle
  call,        ///< items: a global, a tuple of arguments
};

struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::int64_t integer = 0;  ///< of booleans, too
  double real = 0;
  std::string text;
  std::vector<int> items;  ///< places in Pickle::values
};

/// An object as Python's pickle describes it. Values may be shared, and may hold themselves.
struct Pickle {
  std::vector<PickleValue> values;
  int root = 0;
  std::int64_t end = 0;  ///< where the pickle ends: bytes from where the first one began
};

/// Bytes [offset, offset + count) of where pickles lie.
using ReadBytes = std::function<void(std::int64_t offset, std::size_t count, void* to)>;

/// Reads the pickle that begins at `start` and lies in `bytes` bytes. No code is run: globals are
/// kept as names, those that `is_allowed` refuses are an error, and so are the operations that
/// objects without tensors need. State that is set on an object is dropped.
/// Errors: throws Error "pickle, byte {n}: ...".
Pickle read_pickle(const ReadBytes& read, std::int64_t start, std::int64_t bytes,
                   const std::function<bool(std::string_view name)>& is_allowed);

}  // namespace opbench
