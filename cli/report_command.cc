#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <ostream>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/result_file.h"
#include "harness/report/files.h"
#include "text/program_name.h"

namespace opbench {
namespace {

constexpr const char* kFooter = R"(Examples:
  opbench report results.json                                   Markdown, on the terminal
  opbench report results.json -o junit.xml                      JUnit: by the extension
  opbench report shard1.json shard2.json --format json -o whole.json
  opbench report old.json --format gbench -o old.gbench.json    for Google Benchmark's compare.py
Results that are joined must be of one machine and one build. The exit code is that of making the
report, 4 if there is nothing to report; whether results passed is what the report says.)";

struct ReportFlags {
  std::vector<std::string> files;
  std::string format;  // empty: as the name of the output says
  std::string output;
};

std::string format_names() {
  std::string names;
  for (const report::ReportFormat& format : report::report_formats()) {
    names += fmt::format("{}{}", names.empty() ? "" : "|", format.name);
  }
  return names;
}

std::string format_of(const ReportFlags& flags) {
  constexpr std::pair<std::string_view, std::string_view> kByExtension[] = {
      {".csv", "csv"}, {".json", "json"}, {".xml", "junit"}, {".txt", "console"}};
  if (!flags.format.empty()) return flags.format;
  const std::string extension = std::filesystem::path(flags.output).extension();
  for (const auto& [known, format] : kByExtension) {
    if (extension == known) return std::string(format);
  }
  return "markdown";
}

// Results that were turned into a page are lost to every later question.
void refuse_to_replace_results(const ReportFlags& flags) {
  std::vector<NamedFile> results;
  for (const std::string& file : flags.files) results.push_back({"the results", file});
  require_distinct(results, std::vector<NamedFile>{{"-o", flags.output}});
}

int write_report(const ReportFlags& flags, CommandContext& context) {
  refuse_to_replace_results(flags);
  const report::FileReport made = report::report_of_files(flags.files, format_of(flags));
  if (made.is_empty) {
    context.err << fmt::format("{}: nothing to report: {} no results\n", program_name(),
                               flags.files.size() == 1
                                   ? fmt::format("{} holds", printable(flags.files.front()))
                                   : fmt::format("the {} files hold", flags.files.size()));
    return kNothingToJudge;
  }
  if (flags.output.empty()) {
    made.write(context.out);
  } else {
    ResultFile(flags.output, context).write(made.write);
  }
  return kAllWell;
}

}  // namespace

void add_report_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("report", "Turn result files into Markdown, CSV, JUnit XML and others");
  const auto flags = std::make_shared<ReportFlags>();
  command.option("FILE", flags->files, "Results of `opbench run --json`; several are joined",
                 {.value = "FILE", .is_required = true});
  command.option("--format", flags->format,
                 "What to write [as the extension of -o says: .md .csv .json .txt, .xml is junit; "
                 "markdown]",
                 {.value = format_names()});
  command.option("-o,--output", flags->output, "Where to write it [standard output, also -]",
                 {"FILE"});
  add_common_flags(command, context);
  command.footer(kFooter);
  command.action([&context, flags] { return write_report(*flags, context); });
}

}  // namespace opbench
