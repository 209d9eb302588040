// dump.json of msprobe (PyTorch and MindSpore):
//   {"dump_data_dir": "...", "data": {
//     "Functional.conv2d.0.forward": {"input_args": [T, ..], "input_kwargs": {name: T}, "output":
//     T}, "Functional.conv2d.0.backward": {"input": [T, ..], "output": [T, ..]},
//     "Module.conv1.Conv2d.forward.0": {.., "parameters": {name: T}}, ..}}
// where T is a tensor {"type": "torch.Tensor", "dtype", "shape", "data_name": "FILE"}, a value
// {"type": "int", "value": 1}, a list of numbers {"type": "torch.Size", "value": [1, 2]}, null, or
// a list or an object of those. A tuple of numbers is a list of values. A tensor without
// "data_name" has statistics only.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "dump/arrays/array_file.h"
#include "dump/dump_meaning.h"
#include "dump/source_listing.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/input_file.h"
#include "text/json_reader.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLargestFile = std::size_t{1} << 30;
constexpr int kDeepestArgument = 16;

// The number that an argument is; null for another value.
const Json* number_of(const Json& value) {
  const bool is_stated = value.is_object() && value.contains("value");
  const Json& number = is_stated ? value["value"] : value;
  return number.is_number() || number.is_boolean() ? &number : nullptr;
}

// The numbers of a tuple or list; empty if it has other items, too.
std::vector<const Json*> numbers_of(const Json& list) {
  std::vector<const Json*> numbers;
  if (!list.is_array()) return numbers;
  for (const Json& item : list) {
    numbers.push_back(number_of(item));
    if (numbers.back() == nullptr) return {};
  }
  return numbers;
}

template <class Stored>
std::string bytes_of(const std::vector<const Json*>& numbers) {
  std::string bytes;
  for (const Json* const number : numbers) {
    // A boolean among numbers is 0 or 1.
    const auto value =
        number->is_boolean() ? static_cast<Stored>(number->get<bool>()) : number->get<Stored>();
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

/// An executed API. Its tensors are added one by one.
struct Call {
  std::string op, seq;
};

class Msprobe {
 public:
  Msprobe(SourceListing& listing, const fs::path& file, const std::string& prefix)
      : listing_(listing), file_(file), prefix_(prefix), folder_(file.parent_path()) {}

  void add_all() {
    const std::string name = file_.string();
    const Json json = parse_json(read_input_file(name, "", kLargestFile), name);
    if (!json.is_object() || !json.contains("data") || !json["data"].is_object()) {
      throw Error(fmt::format("{}: not a dump.json of msprobe: it has no object 'data'", name));
    }
    find_data(json);
    int number = 0;
    for (const auto& [api, call] : json["data"].items()) {
      // A slash in the name would change the path.
      std::string op = api;
      std::replace(op.begin(), op.end(), '/', '_');
      add_call({prefix_ + op, std::to_string(++number)}, call);
    }
  }

 private:
  // The folder may have been moved after it was written.
  void find_data(const Json& json) {
    data_ = folder_ / "dump_tensor_data";
    if (!json.contains("dump_data_dir") || !json["dump_data_dir"].is_string()) return;
    const fs::path named(json["dump_data_dir"].get<std::string>());
    std::error_code ignored;
    if (!named.filename().empty() && fs::is_directory(folder_ / named.filename(), ignored)) {
      data_ = folder_ / named.filename();
    }
  }

  void add_call(const Call& call, const Json& parts) {
    listing_.record(call.op, call.seq);
    if (!parts.is_object()) return complain(call.op, "is not an object");
    for (const auto& [key, value] : parts.items()) {
      const bool is_named = key == "input_kwargs" || key == "parameters";
      const bool is_input = key.starts_with("input") || key == "parameters";
      const Side side = is_input                    ? Side::input
                        : key.starts_with("output") ? Side::output
                                                    : Side::other;
      const bool is_single = value.is_object() && !is_named && value.contains("type");
      add_values(call, side, side == Side::other ? key : is_single ? "0" : "", value, 0);
    }
  }

  void complain(const std::string& where, const std::string& what) {
    listing_.catalogue.problems.push_back(
        fmt::format("{}: {} {}", file_.string(), printable(where), what));
  }

  // `name` is the name of the argument so far: "", "0", "0/1", "weight".
  void add_values(const Call& call, Side side, const std::string& name, const Json& value,
                  int depth) {
    const auto below = [&](const std::string& part) {
      return name.empty() ? part : fmt::format("{}/{}", name, part);
    };
    if (depth > kDeepestArgument) return complain(call.op, "is nested too deep");
    const bool is_argument = depth > 0;  // else the list of all arguments
    if (const auto numbers = numbers_of(value); is_argument && !numbers.empty()) {
      add_numbers(call, side, name, numbers, true);
    } else if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        add_values(call, side, below(std::to_string(i)), value[i], depth + 1);
      }
    } else if (value.is_object() && value.contains("type") && value["type"].is_string()) {
      add_value(call, side, name, value);
    } else if (value.is_object()) {
      for (const auto& [key, part] : value.items()) {
        add_values(call, side, below(key), part, depth + 1);
      }
    }
  }

  void add_value(const Call& call, Side side, const std::string& name, const Json& value) {
    const std::string type = value["type"].get<std::string>();
    if (type.find("Tensor") != type.npos || type.find("ndarray") != type.npos) {
      return add_tensor(call, side, name, value);
    }
    if (!value.contains("value")) return;
    if (const Json* const number = number_of(value)) {
      add_numbers(call, side, name, {number}, false);
    } else if (const auto numbers = numbers_of(value["value"]); !numbers.empty()) {
      add_numbers(call, side, name, numbers, true);
    }
  }

  // A list is recorded whole, as PyTorch's dumper records it.
  void add_numbers(const Call& call, Side side, const std::string& name,
                   const std::vector<const Json*>& numbers, bool is_list) {
    const auto are_all = [&](auto is_kind) {
      return std::all_of(numbers.begin(), numbers.end(), is_kind);
    };
    DumpEntry entry;
    SourcePlace place;
    if (are_all([](const Json* one) { return one->is_boolean(); })) {
      entry.stored = StoredType::boolean;
      place.value = bytes_of<std::uint8_t>(numbers);
    } else if (are_all([](const Json* one) { return one->is_number_integer(); })) {
      entry.stored = StoredType::i64;
      place.value = bytes_of<std::int64_t>(numbers);
    } else {
      entry.stored = StoredType::f64;
      place.value = bytes_of<double>(numbers);
    }
    entry.kind = is_list ? EntryKind::other : EntryKind::scalar;
    entry.stored_name = numpy_name(entry.stored);
    const Dims shape = is_list ? Dims{std::ssize(numbers)} : Dims{};
    entry.desc = describe(dtype_of(entry.stored), shape);
    listing_.add(call.op, call.seq, side, name, entry, std::move(place));
  }

  void add_tensor(const Call& call, Side side, const std::string& name, const Json& value) {
    DumpEntry entry;
    entry.kind = EntryKind::tensor;
    SourcePlace place;
    if (!value.contains("data_name") || !value["data_name"].is_string()) {
      entry.problem = "dump.json has statistics only, no data";
    } else {
      read_tensor(value["data_name"].get<std::string>(), entry, place);
    }
    listing_.add(call.op, call.seq, side, name, std::move(entry), std::move(place));
  }

  void read_tensor(const std::string& data_name, DumpEntry& entry, SourcePlace& place) {
    // Only the file name is used, so that the path stays in the folder.
    const fs::path path = data_ / fs::path(data_name).filename();
    try {
      if (!has_array_suffix(path)) {
        throw Error(fmt::format("{}: files of this kind are not read", path.string()));
      }
      ArrayFile arrays(path);
      if (arrays.entries().size() != 1) {
        throw Error(
            fmt::format("{} holds {} arrays, not one", path.string(), arrays.entries().size()));
      }
      entry = arrays.entries().front();
      place.original = entry;
      place.array_file = static_cast<int>(listing_.array_files.size());
      listing_.array_files.push_back(path);
      std::error_code ignored;
      listing_.bytes += static_cast<std::int64_t>(fs::file_size(path, ignored));
    } catch (const Error& error) {
      entry.problem = error.what();
    }
  }

  SourceListing& listing_;
  const fs::path& file_;
  const std::string& prefix_;
  fs::path folder_, data_;
};

}  // namespace

void add_msprobe(SourceListing& listing, const fs::path& file, const std::string& prefix) {
  Msprobe(listing, file, prefix).add_all();
}

}  // namespace opbench
