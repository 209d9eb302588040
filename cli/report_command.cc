#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/run_outputs.h"
#include "harness/check/trend.h"
#include "harness/report/explain_file.h"
#include "harness/report/files.h"
#include "harness/report/page.h"
#include "harness/run/artefact.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/program.h"

namespace opbench {
namespace {

constexpr const char* kReportFooter = R"(Examples:
  opbench report --last                                         every row of the last run
  opbench report --last --html page.html                        the same as a page for a browser
  opbench report results.json                                   Markdown, on the terminal
  opbench report results.json -o junit.xml                      JUnit: by the extension
  opbench report run.h5 --to csv                                from the file of `opbench run --artefact`
  opbench report monday.json tuesday.json --to json -o whole.json
  opbench report old.json --to gbench -o old.gbench.json        for Google Benchmark's compare.py
  opbench report run.h5 --case 'softplus[8x64x56x56,fp32'       all about one case, in words
  opbench report compare.json --case softplus/2                 an operator of a comparison or a judgement
  opbench report results.json --to words                        the cases, one a line
  opbench report --history history.jsonl -o trend.md            trends of a history of opbench check
  opbench report results.json compare.json --html page.html     one page with tabs, for a browser
Joined results must be of one machine and one build. Failed results do not change the exit code:
it is 0 if the report was made, 4 if there is nothing to report or no such case.)";

struct ReportFlags {
  std::vector<std::string> files;
  std::string format;  // empty: by the extension of the output
  std::string wanted;  // of --case
  std::string output;
  std::string history;
  std::string html;
  int machine = 0;  // 0: all machines
  bool is_last = false;
};

std::string format_names() {
  std::string names;
  for (const report::ReportFormat& format : report::report_formats()) {
    names += fmt::format("{}{}", names.empty() ? "" : "|", format.name);
  }
  return names + "|words";
}

std::string format_of(const ReportFlags& flags) {
  if (flags.format == "html" || flags.format == "htm") {
    throw Error("--to html: a page for a browser is --html FILE");
  }
  constexpr std::pair<std::string_view, std::string_view> kByExtension[] = {{".csv", "csv"},
                                                                            {".json", "json"},
                                                                            {".xml", "junit"},
                                                                            {".txt", "console"},
                                                                            {".md", "markdown"}};
  if (!flags.format.empty()) return flags.format;
  const std::string extension =
      in_lower_case(std::filesystem::path(flags.output).extension().string());
  if (extension.empty()) return {};
  if (extension == ".html" || extension == ".htm") {
    throw Error(fmt::format("-o '{0}': a page for a browser is --html '{0}'", flags.output));
  }
  for (const auto& [known, format] : kByExtension) {
    if (extension == known) return std::string(format);
  }
  throw Error(fmt::format(
      "-o '{}': no format has the extension {}; .md .csv .json .txt .xml have one, and --to "
      "FORMAT is for other names",
      flags.output, extension));
}

// Uses the file of the last run. On a terminal it prints the table that the run would print.
void take_last_run(ReportFlags& flags) {
  if (!flags.is_last) return;
  if (!flags.files.empty() || !flags.history.empty()) {
    throw Error("--last reads the file of the last run; no other FILE is allowed");
  }
  const std::filesystem::path last = last_run_file();
  std::error_code ignored;
  if (!std::filesystem::exists(last, ignored)) {
    throw Error(fmt::format("--last: no run is kept yet in {}; `{} run` keeps its results there",
                            last.empty() ? "~/.cache (HOME is not set)" : last.string(),
                            program_name()));
  }
  flags.files = {last.string()};
  const bool is_for_terminal = flags.output.empty() && flags.html.empty();
  if (flags.format.empty() && is_for_terminal) flags.format = "console";
}

// opbench cannot read its own HTML pages, so a page must not replace results.
void refuse_to_replace_files(const ReportFlags& flags, const CommandContext& context) {
  std::vector<NamedFile> results = {{"--history", flags.history}};
  for (const std::string& file : flags.files) results.push_back({"the results", file});
  check_files(results, std::vector<NamedFile>{{"-o", flags.output}, {"--html", flags.html}},
              context);
}

void write_where_asked(const std::function<void(std::ostream&)>& content, const ReportFlags& flags,
                       CommandContext& context) {
  if (flags.output.empty()) {
    content(context.out);
  } else {
    ResultFile(flags.output, context).write(content);
  }
}

int write_history(const ReportFlags& flags, CommandContext& context) {
  if (!flags.files.empty()) throw Error("report takes either results or a --history");
  if (const std::string format = format_of(flags); !format.empty() && format != "markdown") {
    throw Error(fmt::format("the report of a history is Markdown; '{}' is not", format));
  }
  const check::History history = check::read_history(flags.history);
  if (history.runs.empty()) {
    context.err << fmt::format("{}: nothing to report: {} holds no runs\n", program_name(),
                               printable(flags.history));
    return kNothingToJudge;
  }
  write_where_asked([&](std::ostream& out) { check::write_trends(out, history); }, flags, context);
  return kAllWell;
}

// Titles of pages are file names without folders. Files with the same name get their whole paths.
std::vector<pages::PageInput> page_inputs(const std::vector<std::string>& files) {
  std::vector<pages::PageInput> inputs;
  std::map<std::string, int> count;
  for (const std::string& file : files) {
    NamedText read = read_results_text(file);
    ++count[read.name];
    inputs.push_back({file, std::move(read.text), std::move(read.name)});
  }
  for (pages::PageInput& input : inputs) {
    if (count[input.name] > 1) input.name = input.path;
  }
  return inputs;
}

// One page for files of any kind, each with its own tabs; a history is one of them.
int write_html(const ReportFlags& flags, CommandContext& context) {
  if (!flags.output.empty() || !flags.format.empty()) {
    throw Error("--html writes a page; -o and --to write another report");
  }
  std::vector<std::string> files = flags.files;
  if (!flags.history.empty()) files.push_back(flags.history);
  if (files.empty()) throw Error("FILE is required: " + pages::known_inputs());
  const std::vector<pages::PageInput> inputs = page_inputs(files);
  ResultFile(flags.html, context).write([&](std::ostream& out) { write_page(out, inputs); });
  return kAllWell;
}

// The named case of a run, or a list of its cases; of other files operators.
int write_words(const ReportFlags& flags, CommandContext& context) {
  if (flags.files.size() != 1) throw Error("--case and --to words describe one FILE");
  const std::string& file = flags.files.front();
  std::ostringstream text;
  const ConsoleStyle style = {flags.output.empty() && context.colour(), context.width()};
  const report::Explained explained = report::explain_file(text, file, flags.wanted, style);
  if (explained.listed > 0) {
    const std::string again =
        shell_line({std::string(program_name()), "report", file, "--case", explained.first});
    text << fmt::format("{} cases; one of them:\n  {}\n", explained.listed,
                        wrapped_command(again, style.width, 6, 2));
  } else if (explained.told == 0 && !(explained.is_of_operators && flags.wanted.empty())) {
    const char* what = explained.is_of_operators ? "operator" : "case";
    context.complain(flags.wanted.empty()
                         ? fmt::format("{} has no results", file)
                         : fmt::format("{} has no {} '{}'", file, what, flags.wanted));
    return kNothingToJudge;
  }
  write_where_asked([&](std::ostream& out) { out << text.str(); }, flags, context);
  return kAllWell;
}

bool wants_words(const ReportFlags& flags) {
  if (flags.wanted.empty()) return flags.format == "words";
  const bool is_other = !flags.format.empty() && flags.format != "words";
  if (is_other || !flags.html.empty() || !flags.history.empty()) {
    throw Error("--case describes a case in words; --html, --history and other forms have all");
  }
  return true;
}

int write_report(ReportFlags flags, CommandContext& context) {
  const bool is_in_words = wants_words(flags);
  take_last_run(flags);
  refuse_to_replace_files(flags, context);
  if (!flags.html.empty()) return write_html(flags, context);
  if (!flags.history.empty()) return write_history(flags, context);
  if (flags.files.empty()) {
    throw Error(
        "FILE is required: results of `opbench run --json` or --artefact, or --last, or --history");
  }
  if (is_in_words) return write_words(flags, context);
  const report::FileReport made =
      report::report_of_files(flags.files, format_of(flags), flags.machine);
  if (made.is_empty) {
    context.err << fmt::format("{}: nothing to report: {} no results\n", program_name(),
                               flags.files.size() == 1
                                   ? fmt::format("{} holds", printable(flags.files.front()))
                                   : fmt::format("the {} files hold", flags.files.size()));
    return kNothingToJudge;
  }
  write_where_asked(made.write, flags, context);
  return kAllWell;
}

}  // namespace

void add_report_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "report", "Show stored results: one case in words, Markdown, CSV, JUnit ...");
  const auto flags = std::make_shared<ReportFlags>();
  command.option("FILE", flags->files,
                 "Results of `opbench run --json` or --artefact; several are joined. Also one "
                 "of compare or judge",
                 {.value = "FILE"});
  command.flag("--last", flags->is_last, "Every row of the last run, which opbench keeps");
  command.option("--history", flags->history,
                 "Instead of results: trends of a history of `opbench check`, in Markdown",
                 {"FILE"});
  command.option("--case", flags->wanted,
                 "Describe one case in words, by its id, its name or a part of them; of a "
                 "comparison or a judgement an operator, or operator/number",
                 {"CASE"});
  command.option("--to", flags->format,
                 "Output format [by the extension of -o: .md .csv .json .txt, .xml is junit; "
                 "markdown]",
                 {.value = format_names()});
  command.option("--machine", flags->machine,
                 "Only the results of the N-th machine, if opbench merge joined different machines",
                 {"N"});
  command.option("-o,--out", flags->output, "Output file [standard output, also -]", {"FILE"});
  command.option(
      "--html", flags->html,
      "Write one HTML page; FILE may then be of run, compare, judge, check and ingest, each "
      "with its own tab",
      {"FILE"});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.footer(kReportFooter);
  command.action([&context, flags] { return write_report(*flags, context); });
}

}  // namespace opbench
