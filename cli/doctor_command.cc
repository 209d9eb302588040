#include <fmt/format.h>

#include <ostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "harness/report/report.h"
#include "harness/run/doctor.h"
#include "text/fitted.h"
#include "text/table.h"

namespace opbench {
namespace {

std::string size_text(std::size_t bytes) {
  return bytes == 0 ? "unknown" : byte_size_text(static_cast<double>(bytes));
}

std::string_view source_text(StreamingSource source) {
  switch (source) {
    case StreamingSource::measured:
      return "measured";
    case StreamingSource::caches:
      return "by the size of the caches: the machine is too busy to measure it";
    case StreamingSource::told:
      return "OPBENCH_STREAM_FROM";
  }
  return "?";
}

int doctor(CommandContext& context) {
  const Machine machine = describe_machine();
  TextTable table = report::machine_table(machine);
  table.rows.push_back({"free", size_text(machine.available_bytes)});
  if (!context.quiet) context.err << "measuring memory bandwidth and noise...\n";
  const Checkup checkup = examine(machine);
  for (const Ceilings& c : checkup.ceilings) {
    const std::string threads = counted(c.threads, "thread");
    table.rows.push_back(
        {"copy", fmt::format("{:.1f} GB/s with {} ({}, {} MiB, spread {:.1f}%)", c.gb_per_s,
                             threads, c.way, c.bytes >> 20, 100 * c.cv)});
    table.rows.push_back(
        {"multiply-add", fmt::format("{:.0f} GFLOP/s with {} (fp32)", c.gflop_per_s, threads)});
    table.rows.push_back(
        {"streaming", fmt::format("results of calls beyond {} go past the caches with {} ({})",
                                  size_text(c.streams_from.bytes), threads,
                                  source_text(c.streams_from.source))});
  }
  const std::size_t width = context.width();
  print_table(context.out, table, {context.colour(), width});
  for (const std::string& finding : checkup.findings) say(context.out, "! " + finding, 2, 2, width);
  say(context.out,
      checkup.is_too_noisy ? "Too noisy to judge small differences of speed. You can still check "
                             "correctness and compare variants within one run."
      : checkup.findings.empty() ? "Fit to measure."
                                 : "Fit to measure, with the remarks above.",
      0, 0, width);
  return checkup.is_too_noisy ? kTooNoisy : kAllWell;
}

}  // namespace

void add_doctor_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command("doctor", "Test whether this machine is fit to measure");
  add_common_flags(command, context);
  command.footer("Exit code 5: too noisy to judge.");
  command.action([&context] { return doctor(context); });
}

}  // namespace opbench
