#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "compare/dump_bits_report.h"
#include "harness/run/example_case.h"
#include "harness/run/invariance.h"
#include "harness/run/invariance_json.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

struct InvarianceFlags {
  std::vector<std::string> dumps, ops, cases, dtypes, variants;
  std::int64_t row = 0, top = 20;
  ForeignSources foreign;
  std::string json;
};

/// A variant and its test case.
struct Trial {
  const Kernel* kernel;
  Case spec;
};

bool is_wanted(const InvarianceFlags& flags, const Kernel& kernel) {
  return flags.variants.empty() || std::find(flags.variants.begin(), flags.variants.end(),
                                             kernel.name) != flags.variants.end();
}

// fp32 and fp16 if the operator has them, else its first dtype.
std::vector<DType> dtypes_of(const InvarianceFlags& flags, const Op& op) {
  std::vector<DType> dtypes;
  for (const std::string& text : flags.dtypes) dtypes.push_back(parse_dtype(text));
  if (!dtypes.empty()) return dtypes;
  for (const DType dtype : {DType::fp32, DType::fp16}) {
    if (std::find(op.dtypes.begin(), op.dtypes.end(), dtype) != op.dtypes.end()) {
      dtypes.push_back(dtype);
    }
  }
  return dtypes.empty() ? std::vector<DType>{op.dtypes.front()} : dtypes;
}

void add_trials(const InvarianceFlags& flags, const Op& op, std::vector<Trial>& trials) {
  for (const Kernel* kernel : kernels_of(op.name)) {
    if (!is_wanted(flags, *kernel)) continue;
    for (const DType dtype : dtypes_of(flags, op)) {
      for (const Format format : op.formats) {
        if (std::optional<Case> c = example_case(*kernel, dtype, format)) {
          trials.push_back({kernel, std::move(*c)});
          break;
        }
      }
    }
  }
}

std::vector<Trial> trials_of(const InvarianceFlags& flags) {
  std::vector<Trial> trials;
  for (const std::string& id : flags.cases) {
    const Case c = parse_case_id(id);
    for (const Kernel* kernel : kernels_of(c.op->name)) {
      if (is_wanted(flags, *kernel)) trials.push_back({kernel, c});
    }
  }
  for (const std::string& name : flags.ops) {
    if (name == "all") {
      for (const Op* op : RegisteredOp::all()) add_trials(flags, *op, trials);
    } else {
      add_trials(flags, find_op(name), trials);
    }
  }
  return trials;
}

void print_heading(std::ostream& out) {
  out << fmt::format("  {:<26}", "variant");
  for (std::size_t i = 0; i < kInvariances; ++i) {
    out << fmt::format(" {:^10}", name(static_cast<Invariance>(i)));
  }
  out << '\n';
}

void print_row(const InvarianceRow& row, std::ostream& out) {
  if (!row.refusal.empty()) {
    out << fmt::format("  {:<26} skipped: {}\n", row.variant, row.refusal);
    return;
  }
  out << fmt::format("  {:<26}", row.variant);
  for (const InvarianceCell& cell : row.cells) out << fmt::format(" {:^10}", sign_of(cell.state));
  out << '\n';
  for (std::size_t i = 0; i < kInvariances; ++i) {
    const InvarianceCell& cell = row.cells[i];
    if (cell.first.place.empty()) continue;
    out << fmt::format("    {} {}, {}: {} is {}, {} before\n", sign_of(cell.state),
                       name(static_cast<Invariance>(i)), cell.first.how, cell.first.place,
                       cell.first.there, cell.first.here);
  }
}

// Exit code 1: some bits differ.
int exit_code_of(const BitComparison& found) {
  using Cell = InvarianceCell;
  if (found.is_partial) return kCouldNotFinish;
  if (found.first_difference() != nullptr) return kVerdictFailed;
  return found.count(Cell::same) > 0 ? kAllWell : kNothingToJudge;
}

int compare_dumps(const InvarianceFlags& flags, CommandContext& context) {
  if (flags.dumps.size() != 2)
    throw Error("one dump is given; invariance compares two dumps of one network");
  if (!flags.ops.empty() || !flags.cases.empty())
    throw Error("two dumps go without --op and --case, which run variants");
  check_range("--row", flags.row, 0, std::int64_t{1} << 40);
  check_range("--top", flags.top, 0, 1'000'000);
  DumpSource first(flags.dumps[0]), second(flags.dumps[1]);
  check_files(std::vector<NamedFile>{{"the dump", flags.dumps[0]}, {"the dump", flags.dumps[1]}},
              std::vector<NamedFile>{{"--json", flags.json}}, context);
  watch_interrupts();
  std::optional<ResultFile> json;
  if (!flags.json.empty()) json.emplace(flags.json, context);
  ProgressLine progress(context);
  BitOptions options;
  options.row = flags.row;
  options.judging.threads = available_cores();
  options.judging.implementations = NameImplementations::none;
  options.progress = [&](std::size_t done, std::size_t all) { progress.begin(done, all); };
  options.stop = [] { return interrupted(); };
  const BitComparison found = compare_bits(first, second, options);
  progress.clear();
  print_bits(context.out, found, static_cast<std::size_t>(flags.top), context.verbose,
             context.width());
  if (json) json->write([&](std::ostream& out) { write_bits_json(out, found); });
  return exit_code_of(found);
}

int invariance(const InvarianceFlags& flags, CommandContext& context) {
  if (!flags.dumps.empty()) return compare_dumps(flags, context);
  add_foreign_kernels(flags.foreign);
  const std::vector<Trial> trials = trials_of(flags);
  if (trials.empty()) {
    context.err << program_name()
                << ": no variant is selected; name an operator with --op, or a case with "
                   "--case, and check --variant and --dtype\n";
    return kNothingToJudge;
  }
  require_replaceable(std::vector<NamedFile>{{"--json", flags.json}}, context);
  watch_interrupts();
  std::optional<ResultFile> json;
  if (!flags.json.empty()) json.emplace(flags.json, context);
  ProgressLine progress(context);
  std::vector<InvarianceRow> rows;
  print_heading(context.out);
  std::string last_case;
  for (std::size_t i = 0; i < trials.size() && !interrupted(); ++i) {
    const std::string id = case_id(trials[i].spec);
    progress.begin(i, trials.size());
    progress.detail(fmt::format("{} {}", id, trials[i].kernel->name));
    rows.push_back(check_invariance(*trials[i].kernel, trials[i].spec));
    progress.clear();
    if (id != last_case) context.out << id << '\n';
    last_case = id;
    print_row(rows.back(), context.out);
  }
  const auto differing =
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.differs(); });
  context.out << fmt::format("{} rows, {} with bits that depend on something unexpected.\n",
                             rows.size(), differing);
  if (json) json->write([&](std::ostream& out) { write_invariance_json(out, rows); });
  if (interrupted()) return kCouldNotFinish;
  return differing > 0 ? kVerdictFailed : kAllWell;
}

constexpr const char* kInvarianceFooter =
    R"(✓ the same bits, ✗ other bits, ≈ other bits inside the operator's tolerance where equal bits are not promised
(batch, format, isa), ○ a library that cuts its sums by threads, - does not apply.
Two dumps of one network: operators whose bits are equal, and recomputation of the others; ≈ is right for its inputs.
Exit code 1: a row has ✗; of two dumps: some bits differ.
Examples:
  opbench invariance first_run.h5 second_run.h5
  opbench invariance batch1.h5 batch8.h5 --row 3
  opbench invariance --op softplus
  opbench invariance --op all --json invariance.json
  opbench invariance --op softplus --kernels libmine.so --variant mine
  opbench invariance --case 'conv2d[2x16x14x14,16x16x3x3,fp16,NC1HWC0,padding=1]')";

}  // namespace

void add_invariance_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "invariance", "Test whether result bits depend on threads, batch or formats");
  const auto flags = std::make_shared<InvarianceFlags>();
  command.option("DUMP", flags->dumps, "Two dumps of one network, instead of --op and --case",
                 {.value = "FILE"});
  command.option("--row", flags->row,
                 "With two dumps: the first row of the larger batch that is compared",
                 {.value = "N", .shows_default = true});
  command.option("--top", flags->top, "With two dumps: operators to print; 0: all",
                 {.value = "N", .shows_default = true});
  command.option("--op", flags->ops, "Operators, each on a small example; all: every operator",
                 {.value = "OP", .values = ValueSplit::by_commas});
  command.option("--case", flags->cases, "A case by its id, as reports print it",
                 {.value = "ID", .values = ValueSplit::one_each});
  command.option("--dtype", flags->dtypes, "Dtypes of the examples [fp32,fp16]",
                 {.value = "DTYPE", .values = ValueSplit::by_commas});
  command.option("--variant", flags->variants, "Only these variants",
                 {.value = "VARIANT", .values = ValueSplit::by_commas});
  command.option("--kernels", flags->foreign.files, kKernelsHelp, {.value = "FILE"});
  command.option("--device", flags->foreign.devices, kDeviceHelp,
                 {.value = "DEVICE", .values = ValueSplit::by_commas});
  command.option("--json", flags->json, "Write the matrix; - is standard output",
                 {.value = "FILE"});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.footer(kInvarianceFooter);
  command.action([&context, flags] { return invariance(*flags, context); });
}

}  // namespace opbench
