#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>

#include "cli/cli.h"
#include "cli/progress.h"
#include "tensor/parallel.h"
#include "tests/lab/commands.h"
#include "tests/lab/selftest.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

void print_cheats(const SelftestResult& result, std::ostream& out) {
  out << fmt::format("  {:<18} {:>9}  by what\n", "cheat", "caught");
  for (const CheatRow& row : result.cheats) {
    std::vector<std::string> by;
    for (const auto& [check, count] : row.by) by.push_back(fmt::format("{} {}", check, count));
    out << fmt::format("  {:<18} {:>9}  {}\n", row.cheat->name,
                       fmt::format("{} of {}", row.caught, row.tried), fmt::join(by, ", "));
  }
  for (const CheatRow& row : result.cheats) {
    for (const std::string& missed : row.missed) {
      out << fmt::format("not caught: {} ({}) in {}\n", row.cheat->name, row.cheat->summary,
                         missed);
    }
  }
}

void print_honest(const SelftestResult& result, std::ostream& out) {
  out << fmt::format("Correct kernels: {} variants x {} seeds, {} runs, {} failed.\n",
                     result.variants, result.seeds, result.honest_runs, result.accusations.size());
  for (const std::string& variant : result.defective) {
    out << fmt::format("Not among them: {}, which has the defect of the operator it stands for.\n",
                       variant);
  }
  for (const Accusation& accused : result.accusations) {
    out << fmt::format("failed: {} {}: {}: {}\n", accused.case_id, accused.variant, accused.status,
                       accused.reason);
  }
}

int selftest(bool is_adversarial, int threads, CommandContext& context) {
  watch_interrupts();
  ProgressLine progress(context);
  const SelftestOptions options{is_adversarial, threads > 0 ? threads : available_cores()};
  const auto start = std::chrono::steady_clock::now();
  std::size_t last_tenth = 0;
  const SelftestResult result =
      run_selftest(options, [&](std::size_t done, std::size_t total, const std::string& what) {
        // Without a terminal lines are not overwritten: prints one for each tenth.
        const std::size_t tenth = 10 * done / std::max<std::size_t>(1, total);
        if (done == 0 || context.is_progress_overwritten() || tenth != last_tenth) {
          progress.begin(done, total);
          progress.activity(what);
        }
        last_tenth = tenth;
      });
  progress.clear();
  context.out << fmt::format("{} cheats in {} cases, {} thread{}:\n", result.cheats.size(),
                             result.cases.size(), options.threads, options.threads == 1 ? "" : "s");
  print_cheats(result, context.out);
  print_honest(result, context.out);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  context.out << fmt::format("{} Took {:.0f} s.\n",
                             result.was_interrupted ? "Interrupted."
                             : result.is_all_well()
                                 ? "Every cheat is caught, and no correct kernel failed."
                                 : "A cheat passed, or a correct kernel failed.",
                             took.count());
  if (result.was_interrupted) return kCouldNotFinish;
  return result.is_all_well() ? kAllWell : kVerdictFailed;
}

}  // namespace

void add_selftest_command(CommandLine& line, CommandContext& context) {
  struct Flags {
    bool is_adversarial = false;
    int threads = 0;
  };
  Command command =
      line.add_command("selftest", "Can a kernel that cheats pass, or a correct one fail?");
  const auto flags = std::make_shared<Flags>();
  command.flag("--adversarial", flags->is_adversarial,
               "Every cheat over 10 operators x 3 sizes, every variant with 20 seeds; takes a "
               "minute or two");
  command.option("--threads", flags->threads, "Threads of each run; 0: all cores",
                 {.value = "N", .shows_default = true});
  add_common_flags(command, context);
  command.footer(
      "Each cheat wraps a correct kernel and runs as any kernel does.\n"
      "Exit code 1: a cheat passed, or a correct kernel failed.\n"
      "Examples:\n  opbench_lab selftest\n  opbench_lab selftest --adversarial");
  command.action([&context, flags] {
    return selftest(flags->is_adversarial, std::clamp(flags->threads, 0, 4096), context);
  });
}

}  // namespace opbench
