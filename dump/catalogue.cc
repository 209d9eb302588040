#include "dump/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>

#include "dump/dump_meaning.h"
#include "tensor/error.h"

namespace opbench {
namespace {

[[noreturn]] void fail() { throw Error("the list of the dump is damaged"); }

bool is_known(Side side) { return side >= Side::input && side <= Side::other; }
bool is_known(EntryKind kind) { return kind >= EntryKind::tensor && kind <= EntryKind::other; }
bool is_known(StoredType stored) {
  return stored >= StoredType::none && stored <= StoredType::boolean;
}
bool is_known(DType dtype) { return dtype <= DType::boolean; }
bool is_known(DeviceType) { return true; }  // files hold others than those with a name
bool is_known(Format format) {
  return std::find(kAllFormats.begin(), kAllFormats.end(), format) != kAllFormats.end();
}

// One list of fields serves both directions: `visit` shows every field of a value to a Writer,
// which appends it, or to a Reader, which fills it.
class Writer {
 public:
  template <class T>
  void field(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      visit(*this, value);
    }
  }
  void field(const std::string& text) {
    field(text.size());
    bytes += text;
  }
  template <class T>
  void field(const std::vector<T>& values) {
    field(values.size());
    for (const T& value : values) field(value);
  }
  template <class T>
  void field(const std::optional<T>& value) {
    field(value.has_value());
    if (value) field(*value);
  }

  std::string bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  void field(T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      std::memcpy(&value, take(sizeof value).data(), sizeof value);
    } else {
      visit(*this, value);
    }
  }
  void field(bool& value) { value = take(1).front() != 0; }
  template <class T>
  requires std::is_enum_v<T>
  void field(T& value) {
    auto number = static_cast<std::underlying_type_t<T>>(value);
    field(number);
    value = static_cast<T>(number);
    if (!is_known(value)) fail();
  }
  void field(std::string& text) { text = take(length(1)); }
  template <class T>
  void field(std::vector<T>& values) {
    // A damaged length alone costs little: no more than what so many bytes could hold.
    constexpr std::size_t kFewestBytes = sizeof(std::int64_t);
    const std::size_t count = length(1);
    values.reserve(std::min(count, rest_.size() / kFewestBytes));
    for (std::size_t i = 0; i < count; ++i) field(values.emplace_back());
  }
  template <class T>
  void field(std::optional<T>& value) {
    bool has_value = false;
    field(has_value);
    if (has_value) field(value.emplace());
  }

  bool is_at_end() const { return rest_.empty(); }

 private:
  std::size_t length(std::size_t element_bytes) {
    std::size_t count = 0;
    field(count);
    if (count > rest_.size() / element_bytes) fail();
    return count;
  }

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
};

template <class Visitor, class T>
concept Fields = std::is_same_v<std::remove_const_t<Visitor>, T>;

template <class V>
void visit(V& v, Fields<Note> auto& note) {
  v.field(note.name);
  v.field(note.value);
}

template <class V>
void visit(V& v, Fields<DumpAttributes> auto& a) {
  v.field(a.type);
  v.field(a.data_type);
  v.field(a.device_type);
  v.field(a.format_type);
  v.field(a.stride);
  v.field(a.count);
}

template <class V>
void visit(V& v, Fields<TensorDesc> auto& desc) {
  v.field(desc.dtype);
  v.field(desc.origin);
  v.field(desc.format);
  v.field(desc.c0);
  v.field(desc.groups);
  v.field(desc.shape);
}

template <class V>
void visit(V& v, Fields<DumpEntry> auto& e) {
  v.field(e.name);
  v.field(e.path);
  v.field(e.side);
  v.field(e.kind);
  v.field(e.desc);
  v.field(e.attributes);
  v.field(e.stored);
  v.field(e.stored_name);
  v.field(e.device);
  v.field(e.format);
  v.field(e.is_strided);
  v.field(e.offset);
  v.field(e.problem);
  v.field(e.warning);
}

template <class V>
void visit(V& v, Fields<DumpRecord> auto& record) {
  v.field(record.op);
  v.field(record.seq_text);
  v.field(record.seq);
  v.field(record.notes);
  v.field(record.entries);
  v.field(record.has_input_group);
}

template <class V>
void visit(V& v, Fields<Catalogue> auto& catalogue) {
  v.field(catalogue.records);
  v.field(catalogue.strays);
  v.field(catalogue.problems);
  v.field(catalogue.damaged);
}

bool comes_before(const DumpRecord& a, const DumpRecord& b) {
  if (a.op != b.op) return a.op < b.op;
  if (a.seq.has_value() != b.seq.has_value()) return a.seq.has_value();
  return std::tie(a.seq, a.seq_text) < std::tie(b.seq, b.seq_text);
}

// What DumpFile::read relies on.
bool can_be_read(const DumpEntry& entry, std::int64_t file_bytes) {
  if (entry.stored == StoredType::none) return false;
  const Dims& shape = entry.desc.shape;
  const std::int64_t elements = element_count(shape);  // throws Error
  const auto& stride = entry.attributes.stride;
  if (entry.is_strided && (!stride || !stays_inside(shape, *stride, elements))) return false;
  const auto bytes = static_cast<std::int64_t>(size_of(entry.stored));
  if (entry.offset < 0) return elements <= std::numeric_limits<std::int64_t>::max() / bytes;
  return entry.offset <= file_bytes && elements <= (file_bytes - entry.offset) / bytes;
}

void check_entries(const std::vector<DumpEntry>& entries, std::int64_t file_bytes) {
  for (const DumpEntry& entry : entries) {
    if (entry.problem.empty() && !can_be_read(entry, file_bytes)) fail();
  }
}

constexpr double kHarmless = 512 << 20;  // bytes; 2 s of unpacking
// Honest dumps have tensors of zeros, which deflate packs 1032 to 1, beside others.
constexpr int kMostTimes = 256;

}  // namespace

void append(Catalogue& catalogue, Catalogue&& part) {
  const auto move_all = [](auto& from, auto& to) {
    to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
  };
  move_all(part.records, catalogue.records);
  move_all(part.strays, catalogue.strays);
  move_all(part.problems, catalogue.problems);
  catalogue.damaged += part.damaged;
}

void sort_records(Catalogue& catalogue) {
  std::stable_sort(catalogue.records.begin(), catalogue.records.end(), comes_before);
  catalogue.records.shrink_to_fit();
}

std::string encode(const Catalogue& catalogue) {
  Writer writer;
  writer.field(catalogue);
  return std::move(writer.bytes);
}

Catalogue decode_catalogue(std::string_view bytes, std::int64_t file_bytes) {
  Catalogue catalogue;
  Reader reader(bytes);
  reader.field(catalogue);
  if (!reader.is_at_end()) fail();
  for (const DumpRecord& record : catalogue.records) check_entries(record.entries, file_bytes);
  check_entries(catalogue.strays, file_bytes);
  return catalogue;
}

Expansion::Expansion(std::int64_t file_bytes)
    : left_(std::max(kHarmless, kMostTimes * static_cast<double>(file_bytes))) {}

void Expansion::take(DumpEntry& entry) {
  const double bytes =
      static_cast<double>(entry.desc.elements()) * static_cast<double>(size_of(entry.stored));
  if (bytes <= left_) {
    left_ -= bytes;
    return;
  }
  entry.problem = fmt::format(
      "not read: with it the file unpacks to more than 512 MiB and {} times its size", kMostTimes);
}

}  // namespace opbench
