#include "cli/run_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "cli/command.h"
#include "cli/swept_plan.h"
#include "judge/judge_output.h"
#include "kernels/foreign/guest_program.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr double kSecondsUntilNoise = 1;
constexpr int kMostCopies = 64;  // more addresses than layouts that differ

ValueSplit values_of(ValueList list) {
  switch (list) {
    case ValueList::by_commas:
      return ValueSplit::by_commas;
    case ValueList::repeated:
      return ValueSplit::one_each;
    default:
      return ValueSplit::usual;
  }
}

void add_field(Command& command, const SelectionField& field, FieldText& text) {
  const char* what = "What to run";
  const OptionForm form{field.value_name, what, values_of(field.list)};
  if (auto* is_given = std::get_if<bool>(&text)) {
    command.flag(field.flag, *is_given, field.help, what);
  } else if (auto* one = std::get_if<std::string>(&text)) {
    command.option(field.flag, *one, field.help, form);
  } else {
    command.option(field.flag, std::get<std::vector<std::string>>(text), field.help, form);
  }
}

void add_result_flags(Command& command, RunFlags& f) {
  const char* results = kResultsGroup;
  command.option("--json", f.json, "All results, with the machine's description",
                 {"FILE", results});
  command.option("--csv", f.csv, "One line per result", {"FILE", results});
  command.option("--markdown", f.markdown,
                 "Tables with the machine's description, and results that are slower than expected",
                 {"FILE", results});
  command.option("--junit", f.junit, "JUnit XML for CI: a test case for each case and variant",
                 {"FILE", results});
  command.option("--benchmark-json", f.benchmark_json,
                 "Google Benchmark's JSON, for its tools/compare.py", {"FILE", results});
  command.option("--trace", f.trace, "Chrome trace; opens in Perfetto", {"FILE", results});
  command.option("--prof-dir", f.prof_dir,
                 "A Chrome trace for each case, named as by the guides' profiling script: "
                 "softplus_device_cpu_dtype_fp16_shape_128_64_128_128_5HD.prof",
                 {"DIR", results});
  command.option("--op-summary", f.op_summary,
                 "Tasks of contexts with the columns of the profiler's op_summary.csv; device "
                 "operators are modelled, times are the host's",
                 {"FILE", results});
  command.option("--op-statistic", f.op_statistic,
                 "Tasks of contexts by type, with the columns of op_statistic.csv",
                 {"FILE", results});
  command.option("--acl-json", f.acl_json,
                 "Dump tasks like a device with this acl.json (dump_list, dump_path, dump_mode, "
                 "dump_op_switch)",
                 {"FILE", results});
  command.option("--dot", f.dot, "Write the planned graphs as Graphviz DOT", {"FILE", results});
  command.option(
      "--artefact", f.artefact,
      "One HDF5 file with results, every sample and its time, the machine and the commands "
      "that repeat results; opbench report reads it",
      {"FILE", results});
  command.flag("--tensors", f.tensors,
               "With --artefact: also all inputs and outputs, in the form of --dump, compressed",
               results);
  command.option(
      "--out", f.out_dir,
      "Directory for results.json, results.csv, results.md and trace.json, for parts/, which "
      "--resume reads, and for op_summary.csv and op_statistic.csv of contexts",
      {"DIR", results});
  command.option("--dump", f.dump,
                 "HDF5 file with the inputs and outputs of every variant and of every task of a "
                 "context's steps, also of failed ones",
                 {"FILE", results});
}

void add_units_flags(Command& command, RunFlags& f) {
  const char* units = "Several machines, and resuming a run (docs/scale.md)";
  command.option("--resume", f.resume, "Instead of --out: continue the run in DIR, or begin it",
                 {"DIR", units});
  command.option(
      "--unit-timeout", f.unit_timeout,
      "Run each case in its own process and end it after so many seconds: a crash affects "
      "only the row of its variant, a hang only its case",
      {.value = "SECONDS", .group = units});
  command.flag("--exclusive", f.exclusive,
               "Parts on one machine measure one at a time, and nothing else runs meanwhile [the "
               "default]",
               units);
  command.flag("--no-exclusive", f.not_exclusive, "Parts on one machine measure at the same time",
               units);
}

}  // namespace

void add_selection_fields(Command& command, SelectionText& selection,
                          std::span<const std::string_view> only) {
  const auto fields = selection_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool is_wanted =
        only.empty() || std::find(only.begin(), only.end(), fields[i].flag) != only.end();
    if (is_wanted) add_field(command, fields[i], selection[i]);
  }
}

void add_selection_flags(Command& command, RunFlags& f) {
  add_selection_fields(command, f.selection);
  command.option(
      "--part", f.part,
      "Only the K-th of N parts with about equal cost; run writes it to DIR/parts of --out "
      "or --resume, and opbench merge joins parts",
      {"K/N", "What to run"});
  const char* how = "How to measure";
  command.option("--threads", f.threads,
                 "Threads; with several numbers every case runs with each [all cores]",
                 {.value = "N", .group = how, .values = ValueSplit::by_commas});
  command.flag("--cold", f.cold, "Empty the caches before every call, outside the timed window",
               how);
  command.option(
      "--verify", f.verify,
      "sample: outputs of more than 2 million elements are verified in blocks with about "
      "2 million elements in total; all: every element is verified",
      {.value = "WHAT", .group = how, .shows_default = true});
  command.option("--standard", f.standard,
                 "Allowed error of a rounded result: bound, the error bound of each element; "
                 "control, twice the error of native; mixed, exact, statistical, cosine or "
                 "prec=X, as in opbench compare",
                 {.value = "NAME", .group = how, .shows_default = true});
  command.flag("--no-verify", f.no_verify, "Time without comparing with the reference", how);
  command.option("--isa", f.isa, "Vector instruction set, such as avx2 [the best available]",
                 {"ISA", how});
}

void add_run_flags(Command& command, RunFlags& f) {
  add_selection_flags(command, f);
  const char* what = "What to run";
  command.option(
      "--load", f.load,
      "Run the operators of a dump on their recorded inputs; --dump writes their outputs "
      "with the same numbers",
      {"FILE", what});
  command.option("--only", f.only,
                 "With --load: only operators whose name, or name/number, matches this regular "
                 "expression",
                 {"REGEX", what});
  command.option("--map", f.map_file, "With --load: more operators; see opbench opmap",
                 {"FILE", what});
  command.option("--loss-scale", f.loss_scale,
                 "For contexts: replaces the loss scale of all steps that have one",
                 {"NUMBER", what});
  const char* how = "How to measure";
  command.option("--impl-mode", f.impl_mode,
                 "With --device torch:npu:N: how its operators compute [that of the device]",
                 {"high_precision|high_performance", how});
  command.option("--time", f.seconds,
                 "Seconds per case and variant, over all repetitions; 0 only verifies [0.1; with "
                 "--load and --dump nothing is timed without this flag]",
                 {.value = "SECONDS", .group = how});
  command.option("--repetitions", f.repetitions,
                 "Samples per case and variant; all are kept. Long steps of contexts: at least 3",
                 {.value = "N", .group = how, .shows_default = true});
  command.option("--until-noise", f.until_noise,
                 "Take samples until the median's 95 % confidence interval is within so many "
                 "percent to each side, or --time has passed [--time is 1 then]",
                 {.value = "PERCENT", .group = how});
  command.option("--rotate-inputs", f.input_copies,
                 "Keep N copies of all tensors, at other addresses; each sample uses the next one",
                 {.value = "N", .group = how});
  command.flag(
      "--counters", f.counters,
      "Count during the timed calls: CPU time, page faults, context switches; instructions, "
      "cycles, cache misses and energy if the machine has them",
      how);
  command.flag("--dry-run", f.dry_run, "Print the plan and run nothing", how);
  command.flag("--check-overflow", f.check_overflow,
               "Run once in fp16 without Inf and NaN, and print which operators overflow; --dump "
               "writes only these",
               how);
  command.flag("--explain", f.explain,
               "Print the planned graph of every step of a context with each inserted conversion "
               "and its cause; runs nothing",
               how);
  command.flag("--plot", f.plot, "Draw times, and the steps of a context, as bars", how);
  add_units_flags(command, f);
  add_result_flags(command, f);
}

void set_impl_mode(RunFlags& f) {
  if (f.impl_mode.empty()) return;
  const auto fields = selection_fields();
  const auto field = std::find_if(fields.begin(), fields.end(), [](const SelectionField& one) {
    return one.flag == std::string_view("--device");
  });
  auto& devices =
      std::get<std::vector<std::string>>(f.selection[std::size_t(field - fields.begin())]);
  if (devices.empty()) throw Error("--impl-mode needs --device torch:npu:N");
  for (std::string& device : devices) device = with_impl_mode(device, f.impl_mode);
}

Part part_of(const RunFlags& f) { return parse_part(f.part); }

bool writes_dump(const RunFlags& f) { return !f.dump.empty() || !f.acl_json.empty() || f.tensors; }

RunOptions options_of(const RunFlags& f) {
  RunOptions options;
  options.selection = read_selection(swept(f.selection).front());
  for (const int threads : f.threads) {
    check_range("--threads", threads, 1, 1024);
    const bool is_new =
        std::find(options.threads.begin(), options.threads.end(), threads) == options.threads.end();
    if (is_new) options.threads.push_back(threads);
  }
  const double seconds =
      f.seconds.value_or(f.until_noise ? kSecondsUntilNoise : RunOptions::kUsualSeconds);
  if (seconds != 0 && !(seconds >= 1e-6 && seconds <= 3600)) {
    throw Error(
        fmt::format("--time is {}; it must be from 1e-06 to 3600 seconds, or 0, which only "
                    "verifies",
                    seconds));
  }
  if (seconds == 0 && f.no_verify) {
    throw Error("--time 0 only verifies, but --no-verify is given: there is nothing to do");
  }
  if (f.loss_scale) check_range("--loss-scale", *f.loss_scale, 0x1p-126, 0x1p126);
  check_range("--repetitions", f.repetitions, 1, 10000);
  if (f.until_noise) {
    check_range("--until-noise", *f.until_noise, 0.01, 100);
    if (seconds == 0) throw Error("--until-noise needs times, but --time 0 only verifies");
    options.until_noise = *f.until_noise / 100;
  }
  if (f.counters && seconds == 0) {
    throw Error("--counters needs timed calls, but --time 0 only verifies");
  }
  options.counters = f.counters;
  if (f.unit_timeout) check_range("--unit-timeout", *f.unit_timeout, 0.1, 1e6);
  options.seconds_per_case = seconds;
  options.times =
      seconds > 0 && !f.check_overflow && (f.load.empty() || !writes_dump(f) || f.seconds);
  options.repetitions = f.repetitions;
  check_range("--rotate-inputs", f.input_copies, 1, kMostCopies);
  options.input_copies = f.input_copies;
  options.cold = f.cold;
  options.verify = !f.no_verify;
  if (f.verify != "sample" && f.verify != "all") {
    throw Error(fmt::format("--verify takes sample or all, found '{}'", f.verify));
  }
  parse_output_rule(f.standard);
  options.standard = f.standard;
  if (f.verify == "all") options.most_verified = std::numeric_limits<std::int64_t>::max();
  return options;
}

RunOptions options_of_part(const RunFlags& f) {
  if (swept(f.selection).size() > 1) {
    throw Error("--set gives several values; only run accepts them");
  }
  RunOptions options = options_of(f);
  options.selection.part = part_of(f);
  return options;
}

}  // namespace opbench
