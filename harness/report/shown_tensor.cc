#include "harness/report/shown_tensor.h"

#include <fmt/format.h>

#include "dump/dump_meaning.h"
#include "harness/report/array_text.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kLongestList = 64;

// Numbers of the dumper's attribute Type beside tensors and single values.
enum OtherType {
  kVecI64 = 2,
  kScalarType = 14,
  kPair = 15,
  kArLongInt = 16,
  kMemoryFormat = 17,
  kTensorOptions = 18
};

// Tensor options are a dataset that nothing was written to.
bool has_values(const DumpEntry& entry) {
  return entry.kind != EntryKind::other || entry.attributes.type != kTensorOptions;
}

void read_into(ShownTensor& shown, DumpSource& file) {
  const DumpEntry& entry = *shown.entry;
  if (entry.kind == EntryKind::tensor) {
    shown.summary = summarise(file, entry);
  } else if (entry.desc.elements() <= kLongestList) {
    shown.values = read_numbers(file, entry, {0, entry.desc.elements()});
  }
}

}  // namespace

ShownTensor look_at(DumpSource& file, const DumpRecord* record, const DumpEntry& entry,
                    const LookOptions& options) {
  ShownTensor shown;
  shown.record = record;
  shown.entry = &entry;
  if (!entry.problem.empty()) {
    shown.problem = entry.problem;
    shown.is_unread = !holds_no_values(entry);
  } else if (entry.stored == StoredType::none) {
    shown.problem = fmt::format("its elements are {}, which are no numbers",
                                entry.stored_name.empty() ? "unknown" : entry.stored_name);
  } else if (holds_codes(entry)) {
    shown.problem = codes_text(entry);
  } else if (entry.desc.elements() > options.max_elements) {
    shown.problem = fmt::format("not read: {} elements, more than --max-elements {}",
                                entry.desc.elements(), options.max_elements);
    shown.is_unread = true;
  }
  if (!shown.problem.empty() || !options.reads_values || !has_values(entry)) return shown;
  try {
    read_into(shown, file);
  } catch (const Error& error) {
    shown.problem = error.what();
    shown.is_unread = true;
  }
  return shown;
}

std::string meaning_of_other(const DumpEntry& entry) {
  switch (entry.attributes.type.value_or(0)) {
    case kVecI64:
    case kArLongInt:
      return "list";
    case kScalarType:
      return "dtype";
    case kPair:
      return "pair";
    case kMemoryFormat:
      return "memory format";
    case kTensorOptions:
      return "tensor options";
    default:
      return "";
  }
}

std::string excerpt_of(DumpSource& file, const DumpEntry& entry) {
  // Every bf16 is an fp32 of as many digits.
  const StoredType type = entry.stored == StoredType::bf16 ? StoredType::f32 : entry.stored;
  return array_text(entry.desc.shape, type,
                    [&](ElementRange range) { return read_numbers(file, entry, range); });
}

}  // namespace opbench
