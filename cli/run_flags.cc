#include "cli/run_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tensor/error.h"

namespace opbench {
namespace {

template <class T>
bool parse_whole(std::string_view text, T& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

Symbols parse_symbols(const std::vector<std::string>& sets) {
  Symbols symbols;
  for (const std::string& set : sets) {
    const auto equals = set.find('=');
    std::int64_t value = 0;
    if (equals == 0 || equals == std::string::npos ||
        !parse_whole(std::string_view(set).substr(equals + 1), value) || value < 0) {
      throw Error(fmt::format("--set '{}' must be NAME=VALUE with a whole number from 0", set));
    }
    symbols[set.substr(0, equals)] = value;
  }
  return symbols;
}

template <class T>
void check_range(const char* flag, T value, T least, T most) {
  if (!(value >= least && value <= most)) {
    throw Error(fmt::format("{} is {}; it must be from {} to {}", flag, value, least, most));
  }
}

void parse_shard(const std::string& text, RunOptions& options) {
  if (text.empty()) return;
  const auto slash = text.find('/');
  if (slash == std::string::npos ||
      !parse_whole(std::string_view(text).substr(0, slash), options.shard_index) ||
      !parse_whole(std::string_view(text).substr(slash + 1), options.shard_count) ||
      options.shard_index < 1 || options.shard_index > options.shard_count) {
    throw Error(fmt::format("--shard '{}' must be I/N with 1 <= I <= N, such as 1/4", text));
  }
}

void add_result_flags(Command& command, RunFlags& f) {
  const char* results = "Where results go (the table always goes to standard output)";
  command.option("--json", f.json, "Everything, with the machine's description", {"FILE", results});
  command.option("--csv", f.csv, "One line per result", {"FILE", results});
  command.option("--markdown", f.markdown,
                 "Tables with the machine's description, and what is slower than it should be",
                 {"FILE", results});
  command.option("--junit", f.junit, "JUnit XML for CI: a test case for each case and variant",
                 {"FILE", results});
  command.option("--benchmark-json", f.benchmark_json,
                 "Google Benchmark's JSON, for its tools/compare.py", {"FILE", results});
  command.option("--trace", f.trace, "Chrome trace; opens in Perfetto", {"FILE", results});
  command.option("--op-summary", f.op_summary,
                 "Tasks of contexts with the columns of the profiler's op_summary.csv; operators "
                 "of the device are modelled, times are the host's",
                 {"FILE", results});
  command.option("--op-statistic", f.op_statistic,
                 "The same by type, with the columns of op_statistic.csv", {"FILE", results});
  command.option("--dot", f.dot, "Write the planned graphs as Graphviz DOT", {"FILE", results});
  command.option("--out", f.out_dir,
                 "Directory for results.json, results.csv, results.md and trace.json, and of "
                 "contexts op_summary.csv and op_statistic.csv",
                 {"DIR", results});
  command.option("--dump", f.dump,
                 "HDF5 file for the inputs and outputs of every variant and of every task of a "
                 "context's steps, failed ones too",
                 {"FILE", results});
}

}  // namespace

void add_selection_flags(Command& command, RunFlags& f) {
  const char* what = "What to run";
  command.option("--op", f.ops, "Operators to run over --shapes",
                 {.value = "OP", .group = what, .values = Values::by_commas});
  command.option("--shapes", f.shapes, "Case file whose `shapes` --op runs over", {"FILE", what});
  command.option("--cases", f.case_files, "Case files whose `cases` run", {"FILE", what});
  command.option("--case", f.case_ids, "A case by its id, as reports print it",
                 {.value = "ID", .group = what, .values = Values::one_each});
  command.option("--filter", f.filter,
                 "Only cases whose id or name matches this regular expression", {"REGEX", what});
  command.option("--dtype", f.dtypes, "fp32, fp16, bf16 instead of the file's",
                 {.value = "DTYPE", .group = what, .values = Values::by_commas});
  command.option("--format", f.formats, "NCHW, NC1HWC0, ... instead of the file's",
                 {.value = "FORMAT", .group = what, .values = Values::by_commas});
  command.option("--variant", f.variants, "Only these variants; `reference` is the fp64 reference",
                 {.value = "VARIANT", .group = what, .values = Values::by_commas});
  command.flag("--backward", f.backward, "Operator, mean, and the backward pass", what);
  command.option("--set", f.sets, "NAME=VALUE for a symbol of the case file, such as N=128",
                 {.value = "NAME=VALUE", .group = what, .values = Values::one_each});
  command.option("--shard", f.shard, "I/N: only every N-th case, from the I-th", {"I/N", what});
  const char* how = "How to measure";
  command.option("--threads", f.threads,
                 "Threads; several numbers run every case with each [all cores]",
                 {.value = "N", .group = how, .values = Values::by_commas});
  command.flag("--cold", f.cold, "Empty the caches before every call, outside the timed window",
               how);
  command.flag("--no-verify", f.no_verify, "Time without comparing with the reference", how);
  command.option("--isa", f.isa, "Vector instruction set, such as avx2 [the best there is]",
                 {"ISA", how});
}

void add_run_flags(Command& command, RunFlags& f) {
  add_selection_flags(command, f);
  const char* how = "How to measure";
  command.option("--time", f.seconds, "Seconds per case and variant, over all repetitions",
                 {.value = "SECONDS", .group = how, .shows_default = true});
  command.option("--repetitions", f.repetitions,
                 "Samples per case and variant; each is kept. Steps of contexts that take long: "
                 "at least 3",
                 {.value = "N", .group = how, .shows_default = true});
  command.flag("--dry-run", f.dry_run, "Show what would run, and stop", how);
  command.flag("--explain", f.explain,
               "Print the planned graph of every step of a context with each inserted conversion "
               "and its cause; runs nothing",
               how);
  add_result_flags(command, f);
}

RunOptions options_of(const RunFlags& f) {
  RunOptions options;
  options.ops = f.ops;
  options.shapes_file = f.shapes;
  options.case_files = f.case_files;
  options.case_ids = f.case_ids;
  options.filter = f.filter;
  for (const std::string& dtype : f.dtypes) options.dtypes.push_back(parse_dtype(dtype));
  for (const std::string& format : f.formats) options.formats.push_back(parse_format(format));
  options.variants = f.variants;
  options.backward = f.backward;
  options.symbols = parse_symbols(f.sets);
  for (const int threads : f.threads) {
    check_range("--threads", threads, 1, 1024);
    const bool is_new =
        std::find(options.threads.begin(), options.threads.end(), threads) == options.threads.end();
    if (is_new) options.threads.push_back(threads);
  }
  check_range("--time", f.seconds, 1e-6, 3600.0);
  check_range("--repetitions", f.repetitions, 1, 10000);
  parse_shard(f.shard, options);
  options.seconds_per_case = f.seconds;
  options.repetitions = f.repetitions;
  options.cold = f.cold;
  options.verify = !f.no_verify;
  return options;
}

}  // namespace opbench
