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

void add_result_flags(CLI::App& command, RunFlags& f) {
  const char* results = "Where results go (the table always goes to standard output)";
  command.add_option("--json", f.json, "Everything, with the machine's description")
      ->type_name("FILE")
      ->group(results);
  command.add_option("--csv", f.csv, "One line per result")->type_name("FILE")->group(results);
  command
      .add_option("--markdown", f.markdown,
                  "Tables with the machine's description, and what is slower than it should be")
      ->type_name("FILE")
      ->group(results);
  command.add_option("--junit", f.junit, "JUnit XML for CI: a test case for each case and variant")
      ->type_name("FILE")
      ->group(results);
  command
      .add_option("--benchmark-json", f.benchmark_json,
                  "Google Benchmark's JSON, for its tools/compare.py")
      ->type_name("FILE")
      ->group(results);
  command.add_option("--trace", f.trace, "Chrome trace; opens in Perfetto")
      ->type_name("FILE")
      ->group(results);
  command
      .add_option("--op-summary", f.op_summary,
                  "Tasks of contexts with the columns of the profiler's op_summary.csv; operators "
                  "of the device are modelled, times are the host's")
      ->type_name("FILE")
      ->group(results);
  command
      .add_option("--op-statistic", f.op_statistic,
                  "The same by type, with the columns of op_statistic.csv")
      ->type_name("FILE")
      ->group(results);
  command.add_option("--dot", f.dot, "Write the planned graphs as Graphviz DOT")
      ->type_name("FILE")
      ->group(results);
  command
      .add_option("--out", f.out_dir,
                  "Directory for results.json, results.csv, results.md and trace.json, and of "
                  "contexts op_summary.csv and op_statistic.csv")
      ->type_name("DIR")
      ->group(results);
  command.add_option("--dump", f.dump, "HDF5 file for the inputs and outputs of every variant")
      ->type_name("FILE")
      ->group(results);
}

}  // namespace

void add_selection_flags(CLI::App& command, RunFlags& f) {
  const char* what = "What to run";
  command.add_option("--op", f.ops, "Operators to run over --shapes")
      ->delimiter(',')
      ->type_name("OP")
      ->group(what);
  command.add_option("--shapes", f.shapes, "Case file whose `shapes` --op runs over")
      ->type_name("FILE")
      ->group(what);
  command.add_option("--cases", f.case_files, "Case files whose `cases` run")
      ->type_name("FILE")
      ->group(what);
  command.add_option("--case", f.case_ids, "A case by its id, as reports print it")
      ->allow_extra_args(false)
      ->type_name("ID")
      ->group(what);
  command
      .add_option("--filter", f.filter,
                  "Only cases whose id or name matches this regular expression")
      ->type_name("REGEX")
      ->group(what);
  command.add_option("--dtype", f.dtypes, "fp32, fp16, bf16 instead of the file's")
      ->delimiter(',')
      ->type_name("DTYPE")
      ->group(what);
  command.add_option("--format", f.formats, "NCHW, NC1HWC0, ... instead of the file's")
      ->delimiter(',')
      ->type_name("FORMAT")
      ->group(what);
  command
      .add_option("--variant", f.variants, "Only these variants; `reference` is the fp64 reference")
      ->delimiter(',')
      ->type_name("VARIANT")
      ->group(what);
  command.add_flag("--backward", f.backward, "Operator, mean, and the backward pass")->group(what);
  command.add_option("--set", f.sets, "NAME=VALUE for a symbol of the case file, such as N=128")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE")
      ->group(what);
  command.add_option("--shard", f.shard, "I/N: only every N-th case, from the I-th")
      ->type_name("I/N")
      ->group(what);
  const char* how = "How to measure";
  command
      .add_option("--threads", f.threads,
                  "Threads; several numbers run every case with each [all cores]")
      ->delimiter(',')
      ->type_name("N")
      ->group(how);
  command
      .add_flag("--cold", f.cold, "Empty the caches before every call, outside the timed window")
      ->group(how);
  command.add_flag("--no-verify", f.no_verify, "Time without comparing with the reference")
      ->group(how);
  command.add_option("--isa", f.isa, "Vector instruction set, such as avx2 [the best there is]")
      ->type_name("ISA")
      ->group(how);
}

void add_run_flags(CLI::App& command, RunFlags& f) {
  add_selection_flags(command, f);
  const char* how = "How to measure";
  command.add_option("--time", f.seconds, "Seconds per case and variant, over all repetitions")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->group(how);
  command
      .add_option("--repetitions", f.repetitions,
                  "Samples per case and variant; each is kept. Steps of contexts that take long: "
                  "at least 3")
      ->capture_default_str()
      ->type_name("N")
      ->group(how);
  command.add_flag("--dry-run", f.dry_run, "Show what would run, and stop")->group(how);
  command
      .add_flag("--explain", f.explain,
                "Print the planned graph of every step of a context with each inserted conversion "
                "and its cause; runs nothing")
      ->group(how);
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
