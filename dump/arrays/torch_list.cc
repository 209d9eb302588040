#include "dump/arrays/torch_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "dump/arrays/pickle.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Adds the file's name to errors of `work`.
template <class Work>
auto naming(const RegularFile& file, Work&& work) {
  try {
    return work();
  } catch (const RunError&) {
    throw;
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(file.name())) throw;
    throw Error(fmt::format("{}: {}", file.name(), message));
  }
}

constexpr std::string_view kObject = "data.pkl";

bool is_object_name(std::string_view name) {
  return name == kObject || name.ends_with(fmt::format("/{}", kObject));
}

// Format before PyTorch 1.6: several pickles, then for each storage its element count and elements.
class OldFile {
 public:
  explicit OldFile(const RegularFile& file)
      : file_(file), read_([&](std::int64_t offset, std::size_t count, void* to) {
          file.read(offset, count, to);
        }) {}

  ArrayList list(const std::string& name) {
    const std::string magic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
    const Pickle first = next();
    if (first.values[static_cast<std::size_t>(first.root)].text != magic) {
      throw Error("not a file of torch.save: its magic number is missing");
    }
    next();  // skips the protocol version
    check_byte_order(next());
    const Pickle object = next();
    const Pickle keys = next();
    find_types(object);
    find_storages(keys);
    const FindStorage find = [&](const std::string& key) -> std::optional<StoragePlace> {
      const auto found = storages_.find(key);
      return found == storages_.end() ? std::nullopt : std::optional(found->second);
    };
    return list_tensors(object, find, name);
  }

 private:
  Pickle next() {
    Pickle pickle = read_pickle(read_, place_, file_.bytes(), is_torch_name);
    place_ = pickle.end;
    return pickle;
  }

  static void check_byte_order(const Pickle& system) {
    const std::vector<int>& items = system.values[static_cast<std::size_t>(system.root)].items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const PickleValue& key = system.values[static_cast<std::size_t>(items[i])];
      const PickleValue& value = system.values[static_cast<std::size_t>(items[i + 1])];
      if (key.text == "little_endian" && value.integer == 0) {
        throw Error("byte order: found big-endian; allowed is little-endian");
      }
    }
  }

  // Determines the element size of each storage.
  void find_types(const Pickle& object) {
    for (const PickleValue& value : object.values) {
      if (value.kind != PickleKind::persistent) continue;
      const PickleValue& id = object.values[static_cast<std::size_t>(value.items[0])];
      if (id.kind != PickleKind::tuple || id.items.size() < 3) continue;
      const auto item = [&](std::size_t i) -> const PickleValue& {
        return object.values[static_cast<std::size_t>(id.items[i])];
      };
      types_[item(2).text] = torch_storage_type(item(1).text);
    }
  }

  void find_storages(const Pickle& keys) {
    for (const int item : keys.values[static_cast<std::size_t>(keys.root)].items) {
      const std::string& key = keys.values[static_cast<std::size_t>(item)].text;
      const auto type = types_.find(key);
      const std::size_t bytes = type == types_.end() ? 0 : size_of(type->second);
      if (bytes == 0) throw Error("storage keys: one belongs to no tensor");
      std::int64_t elements = 0;
      if (file_.bytes() - place_ < 8) {
        throw Error(fmt::format("storages: cut after {} bytes", file_.bytes()));
      }
      file_.read(place_, sizeof elements, &elements);
      place_ += 8;
      const std::int64_t left = (file_.bytes() - place_) / static_cast<std::int64_t>(bytes);
      if (elements < 0 || elements > left) {
        throw Error(fmt::format("storage size: found {} elements, {} are left", elements, left));
      }
      const std::int64_t size = elements * static_cast<std::int64_t>(bytes);
      storages_[key] = {{-1, place_, false}, size};
      place_ += size;
    }
  }

  const RegularFile& file_;
  ReadBytes read_;
  std::int64_t place_ = 0;
  std::map<std::string, StoredType> types_;
  std::map<std::string, StoragePlace> storages_;
};

}  // namespace

bool is_torch_zip(const ZipFile& zip) {
  return std::any_of(zip.members().begin(), zip.members().end(),
                     [](const ZipMember& member) { return is_object_name(member.name); });
}

ArrayList list_torch(ZipFile& zip, const RegularFile& file, const std::string& name) {
  zip.ignore_sums();
  return naming(file, [&] {
    std::map<std::string, std::size_t> members;
    std::size_t object = 0;
    for (std::size_t i = 0; i < zip.members().size(); ++i) {
      members.emplace(zip.members()[i].name, i);
      if (is_object_name(zip.members()[i].name)) object = i;
    }
    const std::string& object_name = zip.members()[object].name;
    const std::string folder = object_name.substr(0, object_name.size() - kObject.size());
    const auto read_member = [&](std::size_t member) {
      return [&zip, member](std::int64_t offset, std::size_t count, void* to) {
        zip.read(member, offset, count, to);
      };
    };
    if (const auto order = members.find(folder + "byteorder"); order != members.end()) {
      std::string text(static_cast<std::size_t>(
                           std::clamp<std::int64_t>(zip.members()[order->second].bytes, 0, 16)),
                       '\0');
      read_member(order->second)(0, text.size(), text.data());
      if (text != "little") throw Error("byteorder: allowed is only 'little'");
    }
    const ReadBytes read = read_member(object);
    const Pickle pickle = read_pickle(read, 0, zip.members()[object].bytes, is_torch_name);
    const FindStorage find = [&](const std::string& key) -> std::optional<StoragePlace> {
      const auto found = members.find(folder + "data/" + key);
      if (found == members.end()) return std::nullopt;
      const ZipMember& member = zip.members()[found->second];
      if (!member.problem.empty()) throw Error("storage: " + member.problem);
      return StoragePlace{{static_cast<int>(found->second), 0, false}, member.bytes};
    };
    return list_tensors(pickle, find, name);
  });
}

ArrayList list_torch(const RegularFile& file, const std::string& name) {
  return naming(file, [&] { return OldFile(file).list(name); });
}

}  // namespace opbench
