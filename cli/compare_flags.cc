#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "cli/compare_command.h"
#include "cli/named_files.h"
#include "compare/name_map_file.h"
#include "judge/standards.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Takes the two dumps. Returns true if msaccucmp's flags name them.
bool take_files(const CompareFlags& flags, ComparisonOptions& options) {
  const bool is_as_msaccucmp = !flags.my_dump.empty() || !flags.golden_dump.empty();
  if (is_as_msaccucmp ? !flags.files.empty() || flags.my_dump.empty() || flags.golden_dump.empty()
                      : flags.files.size() != 2) {
    throw Error("two dumps are needed: opbench compare NPU.h5 GPU.h5, or -m NPU.h5 -g GPU.h5");
  }
  options.actual = is_as_msaccucmp ? flags.my_dump : flags.files[0];
  options.expected = is_as_msaccucmp ? flags.golden_dump : flags.files[1];
  options.golden = flags.golden;
  return is_as_msaccucmp;
}

CallRule parse_rule(const std::string& text) {
  if (text == "aligned") return CallRule::aligned;
  if (text == "msaccucmp") return CallRule::by_number;
  throw Error(fmt::format("--match '{}' is unknown; allowed are aligned and msaccucmp", text));
}

void take_standard(const CompareFlags& flags, ComparisonOptions& options) {
  const std::string usual = flags.golden.empty() ? "mixed" : "cross-check";
  options.standard = parse_standard(flags.standard.empty() ? usual : flags.standard);
  if (needs_golden(options.standard.kind) && flags.golden.empty()) {
    throw Error(fmt::format("--standard {} needs a third dump: --golden REF.h5",
                            name(options.standard.kind)));
  }
  options.standards =
      flags.standards_file.empty() ? builtin_standards() : load_standards(flags.standards_file);
}

void check_results(const CompareFlags& flags) {
  check_range("-p", flags.post_process, 0, 1);
  refuse_standard_output("-o", flags.out_dir, "several files", "a folder, or FILE.h5");
  if (!flags.out_dir.empty() && !is_artefact_name(flags.out_dir)) return;
  const char* needy = flags.post_process == 1 ? "-p" : flags.advisor ? "--advisor" : nullptr;
  if (needy != nullptr) {
    throw Error(fmt::format("{} needs a directory for its files: -o DIR", needy));
  }
}

void note_given(const CompareFlags& flags, ComparisonRequest& request) {
  const std::pair<const char*, const std::string&> kTexts[] = {{"only", flags.only},
                                                               {"match", flags.match},
                                                               {"map", flags.map_file},
                                                               {"golden", flags.golden},
                                                               {"explain", flags.explain},
                                                               {"fail-on", flags.fail_on},
                                                               {"standards", flags.standards_file}};
  for (const auto& [name, text] : kTexts) {
    if (!text.empty()) request.given.emplace_back(name, text);
  }
}

}  // namespace

bool is_artefact_name(const std::string& path) { return path.ends_with(".h5"); }

void add_compare_flags(Command& command, CompareFlags& f) {
  const char* what = "What to compare";
  command.option("dumps", f.files, "The dump under test, and the dump to compare it with",
                 {"NPU.h5 GPU.h5", what});
  command.option("-m,--my_dump_path", f.my_dump, "The dump under test, msaccucmp's flag",
                 {"FILE", what});
  command.option("-g,--golden_dump_path", f.golden_dump,
                 "The dump to compare it with, msaccucmp's flag", {"FILE", what});
  command.option("--golden", f.golden,
                 "A third, more accurate dump: the errors of both dumps are measured against it",
                 {"FILE", what});
  command.option(
      "--shards", f.shards,
      "YAML file of rules: joins the tensors of the ranks in folder NPU and compares them "
      "with GPU, the dump of an undivided run",
      {"FILE", what});
  command.option("--only", f.only,
                 "Only operators whose name, module or tensor path matches this regular expression",
                 {"REGEX", what});
  command.option(
      "--match", f.match,
      "aligned: pair executions by shape, dtype and content if counts differ; msaccucmp: "
      "pair the k-th with the k-th [aligned; msaccucmp with -m and -g]",
      {"RULE", what});
  command.option("--map", f.map_file, "YAML file with more operator and parameter names",
                 {"FILE", what});
  const char* how = "How to judge";
  command.option("--standard", f.standard,
                 "mixed, exact, statistical, cosine, prec=X; with --golden also "
                 "cross-check[=L0|L1|L2], control [mixed; cross-check with --golden]",
                 {"mixed|exact|statistical|cosine|prec=X|cross-check|control", how});
  command.option("--standards", f.standards_file, "YAML file with other numbers for standards",
                 {"FILE", how});
  command.option("--explain", f.explain,
                 "Operators to recompute from their recorded inputs, to find where an error is "
                 "introduced: all, failing, none [failing; none with -m and -g]",
                 {"all|failing|none", how});
  command.option(
      "--fail-on", f.fail_on,
      "Cause of exit code 1: any failed tensor, an operator that differs although its inputs "
      "do not, an error that an operator introduces, none "
      "[any; none with -m and -g]",
      {"any|first|introduced|none", how});
  const char* results = "Where results go";
  command.option(
      "-o,--out", f.out_dir,
      "Directory for compare.json, compare.csv and msaccucmp's result_*.csv; or FILE.h5, "
      "which contains the first two",
      {"DIR", results});
  command.option("--top", f.top, "Operators to print",
                 {.value = "N", .group = results, .shows_default = true});
  command.option("--algorithm", f.algorithms,
                 "Columns of result_*.csv by index or name: 3,0,5 (also -alg)",
                 {.value = "LIST", .group = results, .shows_default = true});
  command.option("-p,--post_process", f.post_process,
                 "1: also write rows with a low cosine and their tensors as .npy",
                 {"0|1", results});
  command.flag("--advisor", f.advisor, "Also write advisor_summary.txt (also -advisor)", results);
  const char* cost = "Resources";
  command.option("--threads", f.threads, "Threads [all cores]", {"N", cost});
  command.option("--max-elements", f.max_elements,
                 "Tensors with more elements are not read: the file may be damaged or hostile",
                 {.value = "N", .group = cost, .shows_default = true});
  command.option("--memory", f.memory_mib, "MiB for buffers, for tensors of any size",
                 {.value = "MIB", .group = cost, .shows_default = true});
}

ComparisonRequest request_of(const CompareFlags& flags, const Ranks& ranks) {
  constexpr std::int64_t kLeastMiB = 64, kMostMiB = 1 << 20;
  ComparisonRequest request;
  ComparisonOptions& options = request.options;
  const bool is_as_msaccucmp = take_files(flags, options);
  const std::string usual_match = is_as_msaccucmp ? "msaccucmp" : "aligned";
  options.rule = parse_rule(flags.match.empty() ? usual_match : flags.match);
  if (!flags.map_file.empty()) {
    options.map = load_name_map(flags.map_file);
    options.table = OpTable::load(flags.map_file);
  }
  options.only = flags.only;
  take_standard(flags, options);
  check_range("--memory", flags.memory_mib, kLeastMiB, kMostMiB);
  check_range("--max-elements", flags.max_elements, 1, std::int64_t{1} << 50);
  check_range("--top", flags.top, 0, 1'000'000);
  check_range("--threads", flags.threads, 0, 1024);
  check_results(flags);
  options.memory_bytes = flags.memory_mib << 20;
  options.max_elements = flags.max_elements;
  options.wants_msaccucmp = !flags.out_dir.empty() && !is_artefact_name(flags.out_dir);
  request.metrics = parse_metrics(flags.algorithms);
  request.extras = {flags.post_process == 1, flags.advisor};
  const std::string usual_fail = is_as_msaccucmp ? "none" : "any";
  request.fail_on = parse_fail_on(flags.fail_on.empty() ? usual_fail : flags.fail_on);
  const std::string usual_explain = is_as_msaccucmp ? "none" : "failing";
  options.explain = parse_explain(flags.explain.empty() ? usual_explain : flags.explain);
  if (request.fail_on == FailOn::introduced && options.explain == Explain::none) {
    throw Error("--fail-on introduced needs --explain failing or all");
  }
  request.top = static_cast<std::size_t>(flags.top);
  request.threads = flags.threads == 0 ? ranks.share_of_cores() : flags.threads;
  note_given(flags, request);
  return request;
}

}  // namespace opbench
