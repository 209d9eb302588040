#include "harness/report/shown_tensor.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "dump/dump_meaning.h"
#include "tensor/error.h"
#include "text/cell.h"

namespace opbench {
namespace {

constexpr std::int64_t kLongestList = 64;

// Values of the dumper's attribute Type, other than tensors and single values.
enum OtherType {
  kVecI64 = 2,
  kScalarType = 14,
  kPair = 15,
  kArLongInt = 16,
  kMemoryFormat = 17,
  kTensorOptions = 18
};

// Tensor options are a dataset without written values.
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
    shown.problem = fmt::format("its elements are {}, which are not numbers",
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
  // Every bf16 value is an fp32 value with as many digits.
  const StoredType type = entry.stored == StoredType::bf16 ? StoredType::f32 : entry.stored;
  return array_text(entry.desc.shape, type,
                    [&](ElementRange range) { return read_numbers(file, entry, range); });
}

namespace {

using Json = nlohmann::ordered_json;

Json number_value(const Number& number) {
  return std::visit(
      [](auto value) -> Json {
        if constexpr (std::is_same_v<decltype(value), double>) return finite_or_null(value);
        return value;
      },
      number);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

const char* kind_name(EntryKind kind) {
  return kind == EntryKind::tensor ? "tensor" : kind == EntryKind::scalar ? "scalar" : "other";
}

// A scalar as a number, a list as a list, otherwise null.
Json values_of(const ShownTensor& tensor) {
  if (tensor.values.empty()) return nullptr;
  if (tensor.entry->desc.shape.empty()) return number_value(tensor.values.front());
  Json list = Json::array();
  for (const Number& value : tensor.values) list.push_back(number_value(value));
  return list;
}

void add_place(Json& row, const ShownTensor& tensor, const std::string& file) {
  const DumpRecord* record = tensor.record;
  const DumpEntry& entry = *tensor.entry;
  row["file"] = file;
  row["operator"] = record == nullptr ? Json(nullptr) : Json(record->op);
  row["number"] = record == nullptr ? Json(nullptr)
                  : record->seq     ? Json(*record->seq)
                                    : Json(record->seq_text);
  row["side"] = name(entry.side);
  row["name"] = entry.name;
  row["path"] = entry.path;
}

void add_description(Json& row, const DumpEntry& entry) {
  const bool is_known = entry.problem.empty() && entry.stored != StoredType::none;
  row["kind"] = kind_name(entry.kind);
  row["dtype"] = is_known ? Json(name(entry.desc.dtype)) : Json(nullptr);
  row["stored"] = text_or_null(entry.stored_name);
  row["shape"] = is_known ? Json(entry.desc.shape) : Json(nullptr);
  row["format"] = entry.format ? Json(name(*entry.format)) : Json(nullptr);
  row["device"] = entry.attributes.device_type ? Json(to_string(entry.device)) : Json(nullptr);
  row["elements"] = is_known ? Json(entry.desc.elements()) : Json(nullptr);
  row["bytes"] =
      is_known ? Json(entry.desc.elements() * static_cast<std::int64_t>(size_of(entry.stored)))
               : Json(nullptr);
}

void add_summary(Json& row, const std::optional<TensorSummary>& summary) {
  for (const char* key :
       {"min", "max", "mean", "std", "zeros", "nan", "inf", "negative_inf", "histogram"}) {
    row[key] = nullptr;
  }
  if (!summary) return;
  row["zeros"] = summary->zeros;
  row["nan"] = summary->nan;
  row["inf"] = summary->positive_inf;
  row["negative_inf"] = summary->negative_inf;
  if (summary->finite == 0) return;
  row["min"] = number_value(summary->min);
  row["max"] = number_value(summary->max);
  row["mean"] = finite_or_null(summary->mean);
  row["std"] = finite_or_null(summary->deviation);
  row["histogram"] = summary->histogram;
}

Json row_of(const ShownTensor& tensor, const std::string& file) {
  Json row;
  add_place(row, tensor, file);
  add_description(row, *tensor.entry);
  add_summary(row, tensor.summary);
  row["value"] = values_of(tensor);
  row["problem"] = text_or_null(tensor.problem);
  row["warning"] = text_or_null(tensor.entry->warning);
  return row;
}

}  // namespace

void write_show_json(std::ostream& out, const std::string& file,
                     std::span<const ShownTensor> tensors) {
  const char* separator = "[\n";
  for (const ShownTensor& tensor : tensors) {
    // Names from a file may contain bytes that are not UTF-8. Replacing them keeps the rest.
    out << separator << row_of(tensor, file).dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n";
  }
  out << (tensors.empty() ? "[]\n" : "\n]\n");
}

}  // namespace opbench
