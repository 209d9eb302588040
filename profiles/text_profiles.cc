#include "profiles/text_profiles.h"

#include <fmt/format.h>

#include <array>

#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

constexpr std::string_view kVerbose = "onednn_verbose,", kOldVerbose = "dnnl_verbose,";

bool is_verbose(std::string_view line) {
  return line.starts_with(kVerbose) || line.starts_with(kOldVerbose);
}

std::string_view first_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  return line;
}

bool has_verbose_line(std::string_view text) {
  while (!text.empty()) {
    if (is_verbose(first_line(text))) return true;
  }
  return false;
}

// True for a problem such as "mb1_ic3oc96_ih227oh55kh11sh4dh0ph0n"alexnet:conv1"" or
// "64x128:128x256".
bool is_problem(std::string_view word) {
  const bool is_described =
      word.starts_with("mb") || word.starts_with("ic") || word.starts_with('g');
  if (is_described) return word.find("ic") != word.npos && word.find("oc") != word.npos;
  return !word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('x') != word.npos &&
         word.find_first_not_of("0123456789x:n\"_-.") == word.npos;
}

std::string_view next_word(std::string_view& line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == line.npos) return line = {};
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

bool is_benchdnn(std::string_view text) {
  constexpr std::string_view kFlags[] = {"--reset", "--batch=", "--dir=", "--dt=",  "--cfg=",
                                         "--stag=", "--mb=",    "--tag=", "--conv", "--matmul"};
  for (int i = 0; i < 100 && !text.empty(); ++i) {
    std::string_view line = first_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view word = next_word(line);
    for (const std::string_view flag : kFlags) {
      if (word.starts_with(flag)) return true;
    }
    return (word.starts_with("mb") || word.starts_with("ic")) && is_problem(word);
  }
  return false;
}

/// The fields of a line after "exec": engine, primitive, implementation, kind, memory descriptors,
/// attributes, auxiliary, problem, milliseconds. Source: oneDNN's documentation of verbose mode.
struct Primitive {
  enum Field { engine, primitive, implementation, kind, memory, attributes, auxiliary, problem };
  std::array<std::string_view, 8> fields;
  std::string_view milliseconds;
};

// Versions and times can precede "exec": "onednn_verbose,v1,169353.3,primitive,exec,cpu,..".
std::optional<Primitive> parse_primitive(std::string_view line, bool& is_exec) {
  Primitive one;
  is_exec = false;
  std::size_t field = 0;
  for (bool is_last = false; !is_last;) {
    const std::size_t end = line.find(',');
    is_last = end == line.npos;
    const std::string_view word = line.substr(0, end);
    if (!is_last) line.remove_prefix(end + 1);
    if (!is_exec) {
      is_exec = word == "exec";
    } else if (field < one.fields.size()) {
      one.fields[field++] = word;
    } else {
      one.milliseconds = word;
      if (is_last) return one;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(TextKind kind) {
  switch (kind) {
    case TextKind::onednn_verbose:
      return "onednn_verbose";
    case TextKind::benchdnn:
      return "benchdnn";
    case TextKind::msprobe:
      return "msprobe dump";
    case TextKind::printed_table:
      return "printed table";
    case TextKind::results:
      break;
  }
  return "results";
}

std::optional<TextKind> recognise_text(std::string_view beginning) {
  const auto has = [&](std::string_view part) { return beginning.find(part) != beginning.npos; };
  std::string_view text = beginning;
  while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\r')) {
    text.remove_prefix(1);
  }
  if (text.starts_with('{')) {
    if (has("\"records\"") && has("\"opbench\"")) return TextKind::results;
    const bool is_msprobe = has("\"data\"") && (has("\"input_args\"") || has("\"dump_data_dir\""));
    return is_msprobe ? std::optional(TextKind::msprobe) : std::nullopt;
  }
  if (has_verbose_line(beginning)) return TextKind::onednn_verbose;
  if (is_benchdnn(beginning)) return TextKind::benchdnn;
  return has_printed_table(beginning) ? std::optional(TextKind::printed_table) : std::nullopt;
}

std::int64_t read_onednn_verbose(LineReader& lines, HotSpots& spots) {
  std::int64_t count = 0;
  const std::string file = lines.skipped().file();
  while (lines.next()) {
    if (!is_verbose(lines.text())) continue;
    bool is_exec = false;
    const std::optional<Primitive> one = parse_primitive(lines.text(), is_exec);
    if (!is_exec) continue;
    const auto time = parse_decimal(one ? one->milliseconds : "", kMilliToPico);
    if (!time || time->units < 0) {
      lines.skip("a primitive without a time");
      continue;
    }
    DeviceTask task;
    task.type = one->fields[Primitive::primitive];
    task.name = one->fields[Primitive::implementation];
    task.core = one->fields[Primitive::engine];
    task.state = one->fields[Primitive::kind];
    task.duration_ps = time->units;
    task.duration_digits = kMicroToPico;
    task.has_tensors = true;
    task.inputs = {one->fields[Primitive::problem], one->fields[Primitive::kind],
                   one->fields[Primitive::memory]};
    task.file = file;
    task.line = lines.line();
    spots.add(task);
    ++count;
  }
  return count;
}

std::int64_t read_benchdnn(LineReader& lines, TraceProfile& calls) {
  std::int64_t count = 0;
  std::string driver = "benchdnn", flags;
  const std::string file = lines.skipped().file();
  while (lines.next()) {
    std::string_view line = lines.text();
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (word.starts_with('#')) break;
      if (word == "--reset") {
        flags.clear();
      } else if (word.starts_with("--") && word.find('=') == word.npos) {
        driver = word.substr(2);
      } else if (word.starts_with("--")) {
        flags += flags.empty() ? "" : ";";
        flags += word;
      } else if (is_problem(word)) {
        const std::size_t label = word.find("n\"");
        TraceEvent event;
        event.name = driver;
        event.input_dims = word.substr(0, label);
        event.concrete_inputs = flags;
        ++calls.operators()[calls.operator_of(event, file, lines.line())].calls;
        ++calls.host_operators;
        ++count;
      } else {
        constexpr std::size_t kShown = 40;
        lines.skip(
            fmt::format("'{}' is not a problem", printable(excerpt(std::string(word), kShown))));
      }
    }
  }
  return count;
}

}  // namespace opbench
