#include "cli/cli.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>

#include "cli/command.h"
#include "cli/earlier_names.h"
#include "cli/help_text.h"
#include "cli/msaccucmp_options.h"
#include "cli/named_files.h"
#include "cli/progress.h"
#include "cli/said_why.h"
#include "harness/run/machine.h"
#include "tensor/error.h"
#include "tensor/processor.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/program.h"

namespace opbench {
namespace {

// Other commands run on rank 0 only.
const std::vector<std::string> kSharedCommands = {"compare", "run", "judge", "convert"};

constexpr const char* kProgramFooter =
    R"(`run` is the default command. `opbench COMMAND --help` shows common flags, --help-all every flag.
Exit codes: 0 all well, 1 a verdict failed, 2 bad input, 3 could not finish, 4 nothing to judge, 5 too noisy.)";

std::string version_text() {
  const Machine m = describe_machine();
  std::string text =
      fmt::format("opbench {} ({}), {}, {}\nflags {}\nvectors {} (of {})", m.version, m.revision,
                  m.compiler, m.build_type, m.flags, m.isa, fmt::join(m.isas, " "));
  for (const auto& [library, version] : m.libraries)
    text += fmt::format("\n{} {}", library, version);
  return text;
}

bool is_version_flag(std::string_view word) { return word == "--version" || word == "-V"; }

bool is_help_flag(std::string_view word) { return word == "--help" || word == "-h"; }

// `opbench --op ...` means `opbench run --op ...`.
void insert_default_command(std::vector<std::string>& args) {
  if (args.empty()) return;
  const std::string& first = args.front();
  if (is_help_flag(first) || is_version_flag(first)) return;
  if (first == "help") {  // of the program, or `opbench help COMMAND`
    args.erase(args.begin());
    args.insert(args.size() > 0 ? args.begin() + 1 : args.begin(), "--help");
    return;
  }
  if (first.starts_with("-")) args.insert(args.begin(), "run");
}

std::string command_line_of(std::vector<std::string> args) {
  args.insert(args.begin(), program_name());
  return shell_line(args);
}

// Prints one line, whatever the message quotes. Arguments may be very long, so it is cut.
void complain(std::ostream& err, std::string_view message) {
  constexpr std::size_t kLongest = 2000;
  err << program_name() << ": " << printable(excerpt(message, kLongest)) << '\n';
}

/// The names of all commands that are not hidden.
class CommandNames {
 public:
  explicit CommandNames(const CommandLine& line) {
    for (const CommandModel& command : line.model().commands) names_.push_back(command.name);
  }

  bool has(const std::string& word) const {
    return std::find(names_.begin(), names_.end(), word) != names_.end();
  }
  std::string unknown(const std::string& word) const {
    return fmt::format("unknown command '{}'{}", word, suggestion(word, names_));
  }
  /// Errors: throws UsageError.
  void check(const std::string& word) const {
    if (!has(word)) throw UsageError(unknown(word));
  }

 private:
  std::vector<std::string> names_;
};

// Prints the error and the help command.
int report_usage_error(const UsageError& error, const std::vector<std::string>& args,
                       const CommandNames& names, std::ostream& err) {
  const bool is_unknown =
      !args.empty() && !args.front().starts_with("-") && !names.has(args.front());
  complain(err,
           fmt::format("{}; see {} --help", is_unknown ? names.unknown(args.front()) : error.what(),
                       program_name()));
  return kBadInput;
}

void add_commands(CommandLine& line, CommandContext& context) {
  line.begin_group({"Measure: is an operator correct, and how fast is it?",
                    "opbench --op softplus --shapes cases/resnet.yaml --set N=1"});
  add_run_command(line, context);
  add_list_command(line, context);
  add_check_command(line, context);
  add_doctor_command(line, context);
  add_remedy_command(line, context);
  add_script_command(line, context);
  line.begin_group({"Compare: where do dumps differ, and which operator is wrong?",
                    "opbench compare npu.h5 gpu.h5 -o out"});
  add_compare_command(line, context);
  add_judge_command(line, context);
  add_show_command(line, context);
  add_minimise_command(line, context);
  add_overflow_command(line, context);
  add_convert_command(line, context);
  add_opmap_command(line, context);
  line.begin_group(
      {"Profiles: where does a device spend its time?", "opbench ingest op_summary.csv --top 10"});
  add_ingest_command(line, context);
  line.begin_group({"Reports: what do stored results contain?", "opbench report --last"});
  add_report_command(line, context);
  add_merge_command(line, context);
  line.begin_group(
      {"Trust: does a result depend on how it is computed?", "opbench invariance --op softmax"});
  add_invariance_command(line, context);
  add_worker_command(line, context);
  add_unit_worker_command(line, context);
  add_generate_command(line, context);
}

// Such a terminal prints control sequences as text.
bool is_dumb_terminal() {
  const char* terminal = std::getenv("TERM");
  return terminal == nullptr || std::string_view(terminal) == "dumb";
}

// Columns of a terminal; null for any other stream.
std::optional<std::size_t> columns_of(int stream) {
  winsize size{};
  if (ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col <= 1) return std::nullopt;
  return size.ws_col;
}

bool has_part_in(const Ranks& ranks, const std::string& command) {
  return ranks.is_first() || std::find(kSharedCommands.begin(), kSharedCommands.end(), command) !=
                                 kSharedCommands.end();
}

int parse_and_run(std::vector<std::string> args, std::ostream& out, std::ostream& err,
                  Ranks& ranks) {
  std::ostream text(out.rdbuf());  // a separate stream, since a result may be written to `out`
  CommandContext context{
      .out = text, .err = err, .command_line = command_line_of(args), .ranks = ranks};
  context.args = args;
  CommandLine line(program_name(),
                   "opbench times operators over a network's shapes and proves that variants "
                   "compute the same result",
                   kProgramFooter);
  bool wants_version = false;
  line.flag("-V,--version", wants_version, "Show version, revision, compiler and libraries");
  add_commands(line, context);
  if (args.empty()) args.push_back("--help");
  if (is_version_flag(args.front())) {
    out << version_text() << '\n';
    return kAllWell;
  }
  if (args.front() == "__complete") {  // its words are not parsed as its flags
    write_candidates(out, line.model(), {args.begin() + 1, args.end()});
    return kAllWell;
  }
  if (args.front() == "--help-all") {
    line.parse({"--help"}, out, context.width())();
    out << help_within(with_program_name(earlier_names_text()), context.width());
    return kAllWell;
  }
  const bool is_help = args.front() == "help" && args.size() > 1 && !is_help_flag(args[1]);
  insert_default_command(args);
  Action action;
  MsaccucmpNotes notes;
  try {
    use_todays_names(args);
    if (is_help) CommandNames(line).check(args.front());
    if (args.front() == "compare") notes = translate_msaccucmp_options(args);
    if (args.front() == "convert") translate_msaccucmp_convert_options(args);
    // msaccucmp's -out. CLI11 would read it as -o with the value "ut".
    std::replace(args.begin(), args.end(), std::string("-out"), std::string("--out"));
    action = line.parse(args, out, context.width());
  } catch (const UsageError& error) {
    return report_usage_error(error, args, CommandNames(line), err);
  }
  if (!notes.without_effect.empty()) {
    complain(err,
             fmt::format("no effect on HDF5 dumps: {}", fmt::join(notes.without_effect, ", ")));
  }
  if (!notes.unknown_algorithms.empty()) {
    complain(err, fmt::format("unknown algorithms are ignored: {}",
                              fmt::join(notes.unknown_algorithms, ", ")));
  }
  const int code = has_part_in(ranks, args.front()) ? action() : kAllWell;
  if (!ranks.is_alone() && ranks.work().unit_seconds > 0 && !context.quiet) {
    complain(err, efficiency_text(ranks));
  }
  text.flush();
  if (!text) out.setstate(std::ios::badbit);
  return code;
}

// Returns the exit code. Prints the error that ended the command.
int run_or_complain(std::vector<std::string> args, std::ostream& out, std::ostream& err,
                    Ranks& ranks) {
  try {
    check_isa_limit();
    const int code = parse_and_run(std::move(args), out, err, ranks);
    out.flush();
    if (!out && has_reader_gone()) return kReaderGone;
    if (!out) {
      complain(err, "cannot write to standard output");
      return kCouldNotFinish;
    }
    return code;
  } catch (const RunError& error) {
    complain(err, error.what());
  } catch (const Error& error) {
    complain(err, error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    complain(err, "out of memory");
  } catch (const std::exception& error) {
    complain(err, fmt::format("internal error: {}", error.what()));
  }
  return kCouldNotFinish;
}

}  // namespace

void CommandContext::complain(std::string_view message) const { opbench::complain(err, message); }

bool CommandContext::colour() const {
  const char* no_color_variable = std::getenv("NO_COLOR");
  const bool is_refused = no_color || (no_color_variable != nullptr && *no_color_variable != '\0');
  return !is_refused && out.rdbuf() == std::cout.rdbuf() && isatty(STDOUT_FILENO) != 0 &&
         !is_dumb_terminal();
}

bool CommandContext::is_progress_overwritten() const {
  return &err == &std::cerr && isatty(STDERR_FILENO) != 0 && !is_dumb_terminal();
}

std::size_t CommandContext::width() const {
  const bool is_terminal = out.rdbuf() == std::cout.rdbuf();
  if (const auto columns = is_terminal ? columns_of(STDOUT_FILENO) : std::nullopt) return *columns;
  constexpr long kFewest = 20, kMost = 1000, kUsual = 80;
  const char* given = std::getenv("COLUMNS");
  const long columns = given == nullptr ? 0 : std::strtol(given, nullptr, 10);
  return static_cast<std::size_t>(columns > 0 ? std::clamp(columns, kFewest, kMost) : kUsual);
}

std::size_t CommandContext::progress_width() const {
  return columns_of(STDERR_FILENO).value_or(80u) - 1u;
}

void refuse_given(const GivenFlags& flags, std::string_view why) {
  for (const auto& [flag, is_given] : flags) {
    if (is_given) throw Error(fmt::format("{} {}", flag, why));
  }
}

void add_common_flags(Command& command, CommandContext& context) {
  command.flag("-q,--quiet", context.quiet, "No progress, and no tables of a run");
  command.flag("-v,--verbose", context.verbose, "More detail");
  command.flag("--no-color", context.no_color, "No colours, like NO_COLOR");
}

void add_overwrite_flag(Command& command, CommandContext& context, const std::string& group) {
  command.flag("--overwrite", context.overwrite,
               "Replace existing files; without it only texts that opbench wrote are replaced",
               group);
}

int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err) {
  return run_cli(std::move(args), out, err, Ranks::alone());
}

int run_cli(std::vector<std::string> args, std::ostream& out, std::ostream& err, Ranks& ranks) {
  ComplaintWatch watch(err);
  const int code = run_or_complain(std::move(args), out, err, ranks);
  if (!watch.has_seen_one() && !reason_of(code).empty()) complain(err, reason_of(code));
  return code;
}

}  // namespace opbench
