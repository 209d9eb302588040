#include "harness/report/show_json.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "text/json_number.h"

namespace opbench {
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

const char* side_name(Side side) {
  return side == Side::input ? "input" : side == Side::output ? "output" : "other";
}

// A scalar alone, a list as one, else null.
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
  row["side"] = side_name(entry.side);
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
    // Names from a file may be no UTF-8; they are replaced rather than the rest lost.
    out << separator << row_of(tensor, file).dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n";
  }
  out << (tensors.empty() ? "[]\n" : "\n]\n");
}

}  // namespace opbench
