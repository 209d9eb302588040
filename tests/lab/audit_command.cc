#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "cli/cli.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "tensor/error.h"
#include "tests/lab/audit.h"
#include "tests/lab/commands.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

struct Flags {
  std::vector<std::string> ops;
  int seeds = AuditOptions{}.seeds, honest_seeds = AuditOptions{}.honest_seeds;
  std::string json;
};

// Smallest share of the defects that a run must detect.
constexpr double kLeastSeen = 0.95;

std::vector<const Op*> ops_of(const Flags& flags) {
  if (flags.ops.empty()) return arithmetic_operators();
  std::vector<const Op*> ops;
  for (const std::string& name : flags.ops) {
    const Op& op = find_op(name);
    if (op.accuracy != AccuracyClass::rounded) {
      throw Error(
          fmt::format("{} moves data: it is judged bit for bit, and no tolerance is to be "
                      "audited; arithmetic operators are allowed",
                      op.name));
    }
    ops.push_back(&op);
  }
  return ops;
}

void print_mutations(const OperatorAudit& audit, std::ostream& out) {
  out << fmt::format("  {:<18} {:>7}", "broken by", "tries");
  for (const std::string_view standard : kAuditStandards) out << fmt::format(" {:>11}", standard);
  out << '\n';
  for (const MutationRow& row : audit.rows) {
    out << fmt::format("  {:<18} {:>7}", row.mutation->name, row.effective);
    for (const int killed : row.killed) {
      out << fmt::format(" {:>11}", row.effective == 0 ? "-" : fmt::format("{}", killed));
    }
    out << fmt::format("  {}{}\n", row.mutation->summary,
                       row.survivor.empty() ? "" : fmt::format("; passed: {}", row.survivor));
  }
}

std::string share_text(int killed, int effective) {
  return effective == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * killed / effective);
}

void print_totals(const OperatorAudit& audit, std::ostream& out) {
  out << fmt::format("  {:<18} {:>7}", "killed", audit.effective());
  for (std::size_t i = 0; i < kAuditStandards.size(); ++i) {
    out << fmt::format(" {:>11}", share_text(audit.killed(i), audit.effective()));
  }
  out << fmt::format("\n  a run sees {} of {} defects ({})", audit.seen(), audit.defects(),
                     share_text(audit.seen(), audit.defects()));
  for (const MutationRow& row : audit.rows) {
    if (row.survivors() > 0)
      out << fmt::format("; not {} ({})", row.mutation->name, row.survivors());
  }
  if (audit.equivalent() > 0) {
    out << fmt::format(
        "\n  {} more are not defects: the error is at most that of correct rounding and of a unit "
        "in "
        "the last place of the inputs",
        audit.equivalent());
  }
  out << fmt::format("\n  {} runs of correct kernels, {} failed\n", audit.honest_runs,
                     audit.false_failure_count);
  for (const FalseFailure& failure : audit.false_failures) {
    out << fmt::format("  correct, but failed: {} {}: {}\n", failure.case_id, failure.variant,
                       failure.reason);
  }
}

using Json = nlohmann::ordered_json;

Json mutation_value(const MutationRow& row) {
  Json value = {{"name", row.mutation->name}, {"effective", row.effective}};
  for (std::size_t i = 0; i < kAuditStandards.size(); ++i) {
    value["killed"][std::string(kAuditStandards[i])] = row.killed[i];
  }
  value["defects"] = row.defects - row.equivalent;
  value["equivalent"] = row.equivalent;
  value["seen"] = row.seen;
  return value;
}

Json audit_value(const OperatorAudit& audit) {
  Json value = {{"op", audit.op}, {"variant", audit.variant}, {"cases", audit.cases}};
  for (const MutationRow& row : audit.rows) value["mutations"].push_back(mutation_value(row));
  value["honest_runs"] = audit.honest_runs;
  value["false_failures"] = audit.false_failure_count;
  return value;
}

/// {"operators": [{"op", "variant", "cases", "mutations": [{"name", "effective", "killed": {"run",
/// ...}}], "honest_runs", "false_failures"}]}
void write_json(std::ostream& out, const std::vector<OperatorAudit>& audits) {
  Json file = {{"operators", Json::array()}};
  for (const OperatorAudit& audit : audits) file["operators"].push_back(audit_value(audit));
  out << file.dump(2) << '\n';
}

// Sums of all operators.
OperatorAudit joined(const std::vector<OperatorAudit>& audits) {
  OperatorAudit all;
  for (const OperatorAudit& audit : audits) {
    all.rows.insert(all.rows.end(), audit.rows.begin(), audit.rows.end());
    all.honest_runs += audit.honest_runs;
    all.false_failure_count += audit.false_failure_count;
  }
  return all;
}

int audit_command(const Flags& flags, CommandContext& context) {
  if (flags.seeds < 1 || flags.honest_seeds < 0) {
    throw Error("--seeds must be 1 or more, --honest-seeds 0 or more");
  }
  const std::vector<const Op*> ops = ops_of(flags);
  require_replaceable(std::vector<NamedFile>{{"--json", flags.json}}, context);
  watch_interrupts();
  std::optional<ResultFile> json;
  if (!flags.json.empty()) json.emplace(flags.json, context);
  ProgressLine progress(context);
  std::vector<OperatorAudit> audits;
  for (std::size_t i = 0; i < ops.size() && !interrupted(); ++i) {
    progress.begin(i, ops.size());
    audits.push_back(audit(*ops[i], {flags.seeds, flags.honest_seeds},
                           [&](const std::string& what) { progress.activity(what); }));
    progress.clear();
    const OperatorAudit& last = audits.back();
    context.out << fmt::format("{} ({}), {} cases x {} seeds\n", last.op, last.variant,
                               last.cases.size(), flags.seeds);
    if (ops.size() == 1 || context.verbose) print_mutations(last, context.out);
    print_totals(last, context.out);
  }
  const OperatorAudit all = joined(audits);
  context.out << fmt::format(
      "{} operators: a run sees {} of {} defects ({}), {} of {} broken results ({}); {} of {} "
      "runs of correct kernels failed.\n",
      audits.size(), all.seen(), all.defects(), share_text(all.seen(), all.defects()), all.killed(),
      all.effective(), share_text(all.killed(), all.effective()), all.false_failure_count,
      all.honest_runs);
  if (json) json->write([&](std::ostream& out) { write_json(out, audits); });
  if (interrupted()) return kCouldNotFinish;
  const bool sees_enough = std::all_of(audits.begin(), audits.end(), [](const OperatorAudit& one) {
    return one.seen() >= kLeastSeen * one.defects();
  });
  return sees_enough && all.false_failure_count == 0 ? kAllWell : kVerdictFailed;
}

constexpr const char* kFooter =
    R"(Columns count the broken results that a standard fails: `run` is what runs judge by, the others the
standards of comparisons. A way that changes no result of an operator is not counted.
A defect is a way to break in one dtype; it is seen if a run fails one of its tries.
Exit code 1: a run sees less than 95 % of an operator's defects, or fails a correct kernel.
Examples:
  opbench_lab audit --op softplus
  opbench_lab audit                        all arithmetic operators; -v shows each way
  opbench_lab audit --honest-seeds 10000   does a correct kernel ever fail?)";

}  // namespace

void add_audit_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "audit",
      "Break operators in many ways: which standard finds which, and fails no correct one?");
  const auto flags = std::make_shared<Flags>();
  command.option("--op", flags->ops, "Operators; all arithmetic ones unless stated",
                 {.value = "OP", .values = ValueSplit::by_commas});
  command.option("--seeds", flags->seeds, "Data sets for each way to break",
                 {.value = "N", .shows_default = true});
  command.option("--honest-seeds", flags->honest_seeds,
                 "Data sets for each variant and dtype of correct kernels",
                 {.value = "N", .shows_default = true});
  command.option("--json", flags->json, "Write all counts; - is standard output",
                 {.value = "FILE"});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.footer(kFooter);
  command.action([&context, flags] { return audit_command(*flags, context); });
}

}  // namespace opbench
