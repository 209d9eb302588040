#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "dump/arrays/torch_list.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

struct StorageRow {
  std::string_view name;
  StoredType type;
};

// Element types by their torch storage and dtype names.
constexpr std::array kStorages = {
    StorageRow{"DoubleStorage", StoredType::f64},
    StorageRow{"FloatStorage", StoredType::f32},
    StorageRow{"HalfStorage", StoredType::f16},
    StorageRow{"BFloat16Storage", StoredType::bf16},
    StorageRow{"LongStorage", StoredType::i64},
    StorageRow{"IntStorage", StoredType::i32},
    StorageRow{"ShortStorage", StoredType::i16},
    StorageRow{"CharStorage", StoredType::i8},
    StorageRow{"ByteStorage", StoredType::u8},
    StorageRow{"BoolStorage", StoredType::boolean},
    StorageRow{"ComplexFloatStorage", StoredType::c64},
    StorageRow{"ComplexDoubleStorage", StoredType::c128},
};
constexpr std::array<std::string_view, 15> kDTypes = {
    "float64", "float32", "float16", "bfloat16", "int64",     "int32",      "int16", "int8",
    "uint8",   "bool",    "uint16",  "uint32",   "complex64", "complex128", "uint64"};

constexpr std::array<std::string_view, 3> kRebuilds = {
    "torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2",
    "torch_npu.utils.storage._rebuild_npu_tensor"};
constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";
constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr std::array<std::string_view, 2> kOthers = {"torch.Size", "torch.device"};

constexpr std::string_view kTorch = "torch.";

template <class Names>
bool is_in(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view name_of(PickleKind kind) {
  switch (kind) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return "a bool";
    case PickleKind::integer:
      return "an integer";
    case PickleKind::real:
      return "a float";
    case PickleKind::text:
      return "a text";
    case PickleKind::global:
      return "a name";
    case PickleKind::persistent:
      return "a storage without a tensor";
    default:
      return "a container";
  }
}

// A storage as the pickle references it.
struct Storage {
  StoredType type = StoredType::none;
  std::string key;
  std::int64_t elements = 0;
};

// Finds the tensors in an object.
class Walk {
 public:
  Walk(const Pickle& pickle, const FindStorage& find) : pickle_(pickle), find_(find) {}

  ArrayList run(const std::string& name) {
    visit(pickle_.root, "", 0);
    if (list_.entries.size() == 1 && list_.entries.front().name.empty()) {
      list_.entries.front().name = name;
      list_.entries.front().path = name;
    }
    if (others_ > 0) {
      list_.problems.push_back(fmt::format("{} value{} tensor{} left out, first {}", others_,
                                           others_ == 1 ? " that is not a" : "s that are not",
                                           others_ == 1 ? " is" : "s are", first_other_));
    }
    return std::move(list_);
  }

 private:
  const PickleValue& value(int index) const {
    return pickle_.values[static_cast<std::size_t>(index)];
  }

  [[noreturn]] static void fail(const std::string& path, const std::string& reason) {
    throw Error(fmt::format("{}: {}", path.empty() ? "the object" : printable(path), reason));
  }

  // Values may be shared or contain themselves, so a small file can describe a huge or endless
  // object.
  void visit(int index, const std::string& path, int depth) {
    constexpr int kDeepestLevel = 64;  // bounds the recursion
    constexpr std::int64_t kMostVisits = 4 << 20;
    constexpr std::size_t kLongestPath = 4096;
    if (depth > kDeepestLevel) fail(excerpt(path, 100), "more than 64 levels");
    if (++visits_ > kMostVisits || path.size() > kLongestPath) fail("", "it is too large");
    const PickleValue& visited = value(index);
    switch (visited.kind) {
      case PickleKind::list:
      case PickleKind::tuple:
        for (std::size_t i = 0; i < visited.items.size(); ++i) {
          visit(visited.items[i], below(path, std::to_string(i)), depth + 1);
        }
        return;
      case PickleKind::dict:
        return visit_pairs(visited.items, 0, path, depth);
      case PickleKind::call:
        return visit_call(visited, path, depth);
      default:
        leave_out(path, name_of(visited.kind));
    }
  }

  void leave_out(const std::string& path, std::string_view what) {
    if (others_++ == 0) {
      first_other_ = fmt::format("{}: {}", path.empty() ? "the object" : printable(path), what);
    }
  }

  static std::string below(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "/" + name;
  }

  void visit_pairs(const std::vector<int>& items, std::size_t first, const std::string& path,
                   int depth) {
    for (std::size_t i = first; i + 1 < items.size(); i += 2) {
      const PickleValue& key = value(items[i]);
      const std::string name = key.kind == PickleKind::text      ? key.text
                               : key.kind == PickleKind::integer ? std::to_string(key.integer)
                                                                 : "?";
      visit(items[i + 1], below(path, name.empty() ? "''" : name), depth + 1);
    }
  }

  void visit_call(const PickleValue& call, const std::string& path, int depth) {
    const std::string& name = value(call.items[0]).text;
    const std::vector<int>& arguments = value(call.items[1]).items;
    if (name == kOrderedDict) {
      for (const int list : arguments) {  // [[key, value], ..], or empty
        for (const int pair : value(list).items) visit_pairs(value(pair).items, 0, path, depth);
      }
      return visit_pairs(call.items, 2, path, depth);
    }
    if (name == kRebuildParameter && !arguments.empty()) {
      return visit(arguments[0], path, depth + 1);
    }
    if (is_in(kRebuilds, name)) return add_tensor(arguments, path);
    leave_out(path, name);
  }

  // Arguments: (storage, offset, size, stride, ...)
  void add_tensor(const std::vector<int>& arguments, const std::string& path) {
    constexpr std::size_t kMostTensors = 500'000;  // they need 400 MB
    if (list_.entries.size() >= kMostTensors) {
      fail("", fmt::format("more than {} tensors; does it repeat lists?", kMostTensors));
    }
    if (arguments.size() < 4) fail(path, "a tensor without storage, offset, size and stride");
    if (!names_.insert(path).second) {
      list_.problems.push_back(fmt::format("'{}' occurs twice", path));
      return;
    }
    try {
      const Storage storage = storage_of(value(arguments[0]));
      const std::int64_t offset = integer(arguments[1], "storage_offset");
      const Dims size = integers(arguments[2], "size"), stride = integers(arguments[3], "stride");
      if (size.size() != stride.size() || size.size() > kLargestRank) {
        throw Error(fmt::format("stride: {} numbers for {} extents", stride.size(), size.size()));
      }
      add(path, storage, offset, size, stride);
    } catch (const Error& error) {
      list_.add_problem(path, error.what());
    }
  }

  void add(const std::string& path, const Storage& storage, std::int64_t offset, const Dims& size,
           const Dims& stride) {
    const std::optional<StoragePlace> found = find_(storage.key);
    constexpr std::size_t kLongest = 60;
    if (!found) {
      throw Error(fmt::format("storage '{}' is missing", excerpt(storage.key, kLongest)));
    }
    const auto bytes = static_cast<std::int64_t>(size_of(storage.type));
    if (storage.elements < 0 || storage.elements > found->bytes / bytes) {
      throw Error(fmt::format("storage: {} elements of {}, but {} bytes are there",
                              storage.elements, numpy_name(storage.type), found->bytes));
    }
    if (offset < 0 || offset > storage.elements) {
      throw Error(fmt::format("storage_offset: found {}, the storage has {} elements", offset,
                              storage.elements));
    }
    ArrayPlace place = found->place;
    place.offset += offset * bytes;
    list_.add(path, storage.type, size, stride, place, (storage.elements - offset) * bytes);
  }

  // Reference: ('storage', torch.FloatStorage, key, location, elements[, None])
  Storage storage_of(const PickleValue& reference) const {
    constexpr std::size_t kFewest = 5;  // without the optional element
    if (reference.kind == PickleKind::persistent) {
      const PickleValue& id = value(reference.items[0]);
      if (id.kind == PickleKind::tuple && id.items.size() >= kFewest &&
          value(id.items[0]).text == "storage") {
        const bool is_view =
            id.items.size() > kFewest && value(id.items[kFewest]).kind != PickleKind::none;
        if (is_view) throw Error("storage: a view of another storage");
        Storage storage{torch_storage_type(value(id.items[1]).text), value(id.items[2]).text,
                        integer(id.items[4], "storage size")};
        if (storage.type != StoredType::none) return storage;
      }
    }
    throw Error("storage: found an object that is not the storage of a tensor with a known type");
  }

  std::int64_t integer(int index, std::string_view what) const {
    const PickleValue& number = value(index);
    if (number.kind == PickleKind::integer && number.text.empty()) return number.integer;
    throw Error(fmt::format("{}: found an object that is not a number of 64 bits", what));
  }

  Dims integers(int index, std::string_view what) const {
    const PickleValue* found = &value(index);
    if (found->kind == PickleKind::call && value(found->items[0]).text == "torch.Size" &&
        !value(found->items[1]).items.empty()) {
      found = &value(value(found->items[1]).items[0]);
    }
    if (found->kind != PickleKind::tuple && found->kind != PickleKind::list) {
      throw Error(fmt::format("{}: found an object that is not a list of numbers", what));
    }
    Dims numbers;
    for (const int item : found->items) numbers.push_back(integer(item, what));
    return numbers;
  }

  const Pickle& pickle_;
  const FindStorage& find_;
  ArrayList list_;
  std::set<std::string> names_;
  std::int64_t visits_ = 0, others_ = 0;
  std::string first_other_;  // example: "epoch: an integer"
};

}  // namespace

StoredType torch_storage_type(std::string_view global) {
  if (!global.starts_with(kTorch)) return StoredType::none;
  global.remove_prefix(kTorch.size());
  for (const StorageRow& row : kStorages) {
    if (row.name == global) return row.type;
  }
  return StoredType::none;
}

bool is_torch_name(std::string_view name) {
  const bool is_dtype = name.starts_with(kTorch) && is_in(kDTypes, name.substr(kTorch.size()));
  return is_dtype || torch_storage_type(name) != StoredType::none || is_in(kRebuilds, name) ||
         is_in(kOthers, name) || name == kRebuildParameter || name == kOrderedDict;
}

ArrayList list_tensors(const Pickle& object, const FindStorage& find, const std::string& name) {
  return Walk(object, find).run(name);
}

}  // namespace opbench
