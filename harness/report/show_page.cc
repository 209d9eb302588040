#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>

#include "dump/dump_meaning.h"
#include "harness/report/shown_tensor.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

constexpr std::size_t kWidestName = 48;

std::string shape_text(const Dims& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

// Adds the name of a value in the dumper's enumeration of dtypes.
std::string value_text(const DumpEntry& entry, const Number& value) {
  const std::string text = scalar_text(value, entry.stored);
  const auto* number = std::get_if<std::int64_t>(&value);
  if (meaning_of_other(entry) != "dtype" || number == nullptr) return text;
  return fmt::format("{} ({})", text, data_type_text(*number));
}

std::string list_text(const ShownTensor& tensor) {
  std::vector<std::string> texts;
  for (const Number& value : tensor.values) texts.push_back(value_text(*tensor.entry, value));
  if (tensor.entry->desc.shape.empty()) return texts.empty() ? "" : texts.front();
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::int64_t stored_bytes(const DumpEntry& entry) {
  return entry.desc.elements() * static_cast<std::int64_t>(size_of(entry.stored));
}

template <class Visit>
void for_each_entry(const DumpSelection& selection, Visit visit) {
  for (const SelectedRecord& record : selection.records) {
    for (const DumpEntry* entry : record.entries) visit(*entry, false);
  }
  for (const DumpEntry* entry : selection.strays) visit(*entry, true);
}

}  // namespace

std::string describe(const std::string& name, const DumpSelection& selection) {
  std::size_t tensors = 0;
  double bytes = 0;
  std::set<std::string> devices;
  for_each_entry(selection, [&](const DumpEntry& entry, bool) {
    if (entry.kind != EntryKind::tensor || !entry.problem.empty()) return;
    ++tensors;
    bytes += static_cast<double>(stored_bytes(entry));
    if (entry.attributes.device_type) devices.insert(to_string(entry.device));
  });
  return fmt::format("{}: {}, {}, {}{}{}", printable(name),
                     counted(selection.records.size(), "operator"), counted(tensors, "tensor"),
                     byte_size_text(bytes), devices.empty() ? "" : ", ", fmt::join(devices, ", "));
}

ShowPage::ShowPage(std::ostream& out, const DumpSelection& selection, const ShowStyle& style)
    : out_(out), style_(style) {
  widths_ = {6, 4, 5, 6, 5, 6};
  for_each_entry(selection, [&](const DumpEntry& entry, bool is_stray) { widen(entry, is_stray); });
}

ShowPage::Cells ShowPage::cells_of(const DumpEntry& entry, bool is_stray) {
  const bool is_tensor = entry.kind == EntryKind::tensor;
  const bool is_known = entry.problem.empty() && entry.stored != StoredType::none;
  return {std::string(entry.side == Side::other ? "" : name(entry.side)),
          printable(is_stray ? entry.path : entry.name),
          is_tensor && is_known ? std::string(name(entry.desc.dtype)) : "",
          is_tensor && entry.format ? std::string(name(*entry.format)) : "",
          is_tensor && is_known ? shape_text(entry.desc.shape) : "",
          is_tensor && entry.attributes.device_type ? to_string(entry.device) : ""};
}

void ShowPage::widen(const DumpEntry& entry, bool is_stray) {
  const Cells cells = cells_of(entry, is_stray);
  for (std::size_t i = 0; i < kCells; ++i) {
    widths_[i] = std::max(widths_[i], std::min(utf8_length(cells[i]), kWidestName));
  }
}

std::string ShowPage::left_of(const Cells& cells) const {
  std::string line = " ";
  for (std::size_t i = 0; i < kCells; ++i) line += fmt::format(" {:<{}}", cells[i], widths_[i]);
  return line;
}

void ShowPage::print_titles() {
  const std::string line = left_of({"", "", "dtype", "format", "shape", "device"});
  const std::string numbers =
      style_.has_values ? fmt::format("{:>10} {:>10} {:>10}  histogram", "min", "max", "mean") : "";
  out_ << coloured(beside(line, numbers), kDim, style_) << '\n';
}

// Prints `values` below if the line has too little room.
std::string ShowPage::beside(const std::string& left, const std::string& values) const {
  constexpr std::size_t kIndent = 8;
  std::string line = left + ' ' + values;
  if (utf8_length(line) > style_.width) {
    line = left;
    line.resize(line.find_last_not_of(' ') + 1);
    line += '\n' + std::string(kIndent, ' ') + wrapped(values, style_.width, kIndent, kIndent);
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

void ShowPage::print_record(const DumpRecord& record) {
  const std::string path = fmt::format("/{}/{}", record.op, record.seq_text);
  out_ << coloured(printable(path), kBold, style_) << '\n';
  if (!style_.has_details) return;
  for (const Note& note : record.notes) {
    out_ << fmt::format("    {}: {}\n", printable(note.name), printable(note.value));
  }
}

void ShowPage::print_strays() {
  out_ << coloured("outside of any operator", kBold, style_) << '\n';
}

std::string ShowPage::numbers_of(const TensorSummary& summary) const {
  std::string line;
  if (summary.finite > 0) {
    line = fmt::format("{:>10} {:>10} {:>10}  {}", compact_text(summary.min),
                       compact_text(summary.max), compact_text(summary.mean),
                       sparkline(summary.histogram, style_.is_unicode));
  } else if (summary.count == 0) {
    return "empty";
  }
  for (const auto& [count, what] : {std::pair{summary.nan, "NaN"},
                                    {summary.positive_inf, "Inf"},
                                    {summary.negative_inf, "-Inf"}}) {
    if (count == 0) continue;
    line += (line.empty() ? "" : "  ") + coloured(fmt::format("{} {}", count, what), kRed, style_);
  }
  return line;
}

std::string ShowPage::values_of(const ShownTensor& tensor) const {
  if (!tensor.problem.empty()) return coloured(printable(tensor.problem), kRed, style_);
  if (tensor.summary) return numbers_of(*tensor.summary);
  if (!tensor.values.empty()) return list_text(tensor);
  return "";
}

void ShowPage::print_tensor(const ShownTensor& tensor) {
  const DumpEntry& entry = *tensor.entry;
  std::string line;
  if (entry.kind == EntryKind::tensor) {
    line = left_of(cells_of(entry, tensor.record == nullptr));
  } else {
    const Cells cells = cells_of(entry, tensor.record == nullptr);
    const std::string meaning = meaning_of_other(entry);
    line = fmt::format("  {:<{}} {:<{}}{}{}", cells[0], widths_[0], cells[1], widths_[1],
                       meaning.empty() ? "" : " ", meaning);
  }
  out_ << beside(line, values_of(tensor)) << '\n';
  if (style_.has_details) print_details(tensor);
}

void ShowPage::print_details(const ShownTensor& tensor) {
  const DumpEntry& entry = *tensor.entry;
  if (entry.kind == EntryKind::tensor && entry.problem.empty()) {
    std::string text =
        fmt::format("{} elements, {}, stored as {}{}", entry.desc.elements(),
                    byte_size_text(static_cast<double>(stored_bytes(entry))), entry.stored_name,
                    entry.is_strided ? ", in the order of its strides" : "");
    if (tensor.summary && tensor.summary->finite > 0) {
      const TensorSummary& s = *tensor.summary;
      text += fmt::format("; std {}, {} zeros ({:.3g} %), {} NaN, {} Inf, {} -Inf",
                          compact_text(s.deviation), s.zeros,
                          100.0 * static_cast<double>(s.zeros) / static_cast<double>(s.count),
                          s.nan, s.positive_inf, s.negative_inf);
    }
    say(out_, text, 6, 2, style_.width);
  }
  if (!entry.warning.empty()) {
    out_ << "      " << coloured(printable(entry.warning), kYellow, style_) << '\n';
  }
  if (tensor.summary && tensor.summary->finite > 0) print_histogram(*tensor.summary);
}

// Prints a line for each bin; a constant has a single bin.
void ShowPage::print_histogram(const TensorSummary& summary) {
  constexpr double kLongestBar = 40;
  const auto value = [](const Number& number) {
    return std::visit([](auto v) { return static_cast<double>(v); }, number);
  };
  const double min = value(summary.min), max = value(summary.max);
  const std::int64_t most = *std::max_element(summary.histogram.begin(), summary.histogram.end());
  const auto bins = static_cast<double>(summary.histogram.size());
  const auto edge = [&](std::size_t i) {
    const double share = static_cast<double>(i) / bins;
    return min * (1 - share) + max * share;
  };
  for (std::size_t i = 0; i < summary.histogram.size() && (i == 0 || max > min); ++i) {
    const std::int64_t count = summary.histogram[i];
    const auto bar = static_cast<std::size_t>(static_cast<double>(count) /
                                              static_cast<double>(most) * kLongestBar);
    out_ << fmt::format("      {:>10} {:>12}{}{}\n", compact_text(edge(i)), count,
                        bar == 0 ? "" : " ", std::string(bar, '#'));
  }
}

void ShowPage::print_excerpt(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    out_ << (line.empty() ? "" : "      ") << line << '\n';
  }
}

}  // namespace opbench
