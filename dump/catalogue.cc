#include "dump/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "dump/dump_meaning.h"
#include "tensor/error.h"
#include "text/packed.h"

namespace opbench {
namespace {

[[noreturn]] void fail() { throw Error("the list of the dump is damaged"); }

bool is_known(Side side) { return side >= Side::input && side <= Side::other; }
bool is_known(EntryKind kind) { return kind >= EntryKind::tensor && kind <= EntryKind::other; }
bool is_known(StoredType stored) {
  return stored >= StoredType::none && stored <= StoredType::boolean;
}
bool is_known(DType dtype) { return static_cast<std::size_t>(dtype) < kAllDTypes.size(); }
bool is_known(Format format) {
  return std::find(kAllFormats.begin(), kAllFormats.end(), format) != kAllFormats.end();
}

// Reads an enumeration. Damaged bytes may hold a number outside of it.
template <class V, class E>
void add_known(V& v, E& value) {
  v.fields(value);
  if (V::kReads && !is_known(value)) fail();
}

}  // namespace

template <class V>
void each_field(V& v, FieldsOf<Note> auto& note) {
  v.fields(note.name, note.value);
}

template <class V>
void each_field(V& v, FieldsOf<DumpAttributes> auto& a) {
  v.fields(a.type, a.data_type, a.device_type, a.format_type, a.stride, a.count);
}

template <class V>
void each_field(V& v, FieldsOf<TensorDesc> auto& desc) {
  add_known(v, desc.dtype);
  add_known(v, desc.origin);
  add_known(v, desc.format);
  v.fields(desc.c0, desc.groups, desc.shape);
}

template <class V>
void each_field(V& v, FieldsOf<DumpEntry> auto& e) {
  v.fields(e.name, e.path);
  add_known(v, e.side);
  add_known(v, e.kind);
  v.fields(e.desc, e.attributes);
  add_known(v, e.stored);
  v.fields(e.stored_name, e.device, e.format, e.is_strided, e.offset, e.problem, e.warning);
  if (V::kReads && e.format && !is_known(*e.format)) fail();
}

template <class V>
void each_field(V& v, FieldsOf<DumpRecord> auto& record) {
  v.fields(record.op, record.seq_text, record.seq, record.notes, record.entries,
           record.has_input_group);
}

template <class V>
void each_field(V& v, FieldsOf<Catalogue> auto& catalogue) {
  v.fields(catalogue.records, catalogue.strays, catalogue.problems, catalogue.damaged);
}

namespace {

bool comes_before(const DumpRecord& a, const DumpRecord& b) {
  if (a.op != b.op) return a.op < b.op;
  if (a.seq.has_value() != b.seq.has_value()) return a.seq.has_value();
  return std::tie(a.seq, a.seq_text) < std::tie(b.seq, b.seq_text);
}

// Checks the properties that DumpFile::read relies on.
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

constexpr double kHarmlessBytes = 512 << 20;  // unpacks in about 2 s
// Correct dumps also contain tensors of zeros, which deflate packs 1032 to 1.
constexpr int kMostUnpackedTimes = 256;

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
  Packer packer;
  packer.add(catalogue);
  return packer.take();
}

Catalogue decode_catalogue(std::string_view bytes, std::int64_t file_bytes) {
  Unpacker packed(bytes);
  auto catalogue = packed.get<Catalogue>();
  if (!packed.is_empty()) fail();
  for (const DumpRecord& record : catalogue.records) check_entries(record.entries, file_bytes);
  check_entries(catalogue.strays, file_bytes);
  return catalogue;
}

Expansion::Expansion(std::int64_t file_bytes)
    : left_(std::max(kHarmlessBytes, kMostUnpackedTimes * static_cast<double>(file_bytes))) {}

void Expansion::take(DumpEntry& entry) {
  const double bytes =
      static_cast<double>(entry.desc.elements()) * static_cast<double>(size_of(entry.stored));
  if (bytes <= left_) {
    left_ -= bytes;
    return;
  }
  entry.problem =
      fmt::format("not read: with it the file unpacks to more than 512 MiB and {} times its size",
                  kMostUnpackedTimes);
}

}  // namespace opbench
