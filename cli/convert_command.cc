#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string_view>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/msaccucmp_options.h"
#include "cli/named_files.h"
#include "cli/selected_records.h"
#include "dump/array_convert.h"
#include "dump/device_convert.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/output_file.h"
#include "text/program.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

struct ConvertOption {
  std::string_view theirs, ours;
};

constexpr std::array kConvertOptions = {
    ConvertOption{"-d", "--device-dump"},  ConvertOption{"--dump_path", "--device-dump"},
    ConvertOption{"-out", "--out"},        ConvertOption{"--output", "--out"},
    ConvertOption{"-f", "--format"},       ConvertOption{"-s", "--shape"},
    ConvertOption{"-i", "--input-index"},  ConvertOption{"-o", "--output-index"},
    ConvertOption{"-v", "--dump-version"}, ConvertOption{"-t", "--type"},
};

std::string_view name_in(std::string_view word) { return word.substr(0, word.find('=')); }

namespace fs = std::filesystem;

constexpr const char* kConvertFooter = R"(Examples:
  opbench convert npu.h5 -o arrays                 one .npy file for each tensor, by its path
  opbench convert npu.h5 -o x.npz --only '^Conv'   arrays of some operators in one file
  opbench convert npu.h5 -o few.h5 --path /relu    a part of a dump, with everything in it
  opbench convert npu.h5 -o bad.h5 --failed report/compare.json
  opbench convert arrays -o again.h5 --device npu  and back
  opbench convert x.npy -o x.txt                   one array as text
  opbench convert model.pt -o weights              no code in the file is run
  opbench convert -d dump_dir -out npy             dumps of a device, msaccucmp's command line
  opbench convert -d Conv2D.conv1.3.7.1670205071724946 -f NCHW -out npy

Sources are .h5, .npy, .npz, .txt, .bin, .pt, .pth and .pth.tar files, and directories of them. From one dump to .h5,
records are copied like `h5copy -p`. A file that cannot be read does not stop the others. Exit code 2: one could not be
converted, or there is no array; 3: one could not be written; 4: nothing matched.
)";

struct ConvertFlags {
  std::vector<std::string> sources, dumps;
  RecordChoice choice;
  std::string out, to, device = "cpu";
  std::string format, shape, type = "npy";
  int input = -1, output = -1, version = 2;
};

// Empty if arrays were written, or if failures give the reason.
std::string why_nothing_is_written(const ConvertOutcome& outcome, const ConvertFlags& flags) {
  if (outcome.written > 0 || !outcome.failures.empty() || interrupted()) return {};
  const std::string named =
      fmt::format("{}", fmt::join(flags.dumps.empty() ? flags.sources : flags.dumps, ", "));
  if (outcome.sources == 0) return fmt::format("there is no file to convert in {}", named);
  if (!flags.choice.only.empty()) {
    return fmt::format("no array of {} has a name that --only '{}' matches", named,
                       flags.choice.only);
  }
  if (!flags.choice.is_all()) {
    return fmt::format("nothing in {} matches; nothing is written", named);
  }
  return fmt::format("{} holds no array; nothing is written", named);
}

int report(const ConvertOutcome& outcome, const ConvertFlags& flags, CommandContext& context) {
  for (const std::string& remark : outcome.remarks) context.err << printable(remark) << '\n';
  const std::string nothing = why_nothing_is_written(outcome, flags);
  const bool is_selected = !flags.choice.is_all() && outcome.sources > 0;
  int code = nothing.empty() ? kAllWell : is_selected ? kNothingToJudge : kBadInput;
  if (!nothing.empty()) context.complain(nothing);
  for (const ConvertFailure& failure : outcome.failures) {
    context.complain(failure.reason);
    code = std::max<int>(code, failure.is_of_machine ? kCouldNotFinish : kBadInput);
  }
  if (!context.quiet) {
    context.out << fmt::format("{} from {} in {}\n", counted(outcome.written, "array"),
                               counted(outcome.sources, "file"), flags.out);
  }
  if (interrupted()) {
    context.complain("interrupted: the rest was not converted");
    return kCouldNotFinish;
  }
  return code;
}

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// msaccucmp's list of a directory's failures.
void list_failures(const ConvertOutcome& outcome, const ConvertFlags& flags) {
  const bool is_whole = flags.dumps.size() == 1 && is_directory(flags.dumps.front());
  if (!is_whole || outcome.failures.empty()) return;
  OutputFile((fs::path(flags.out) / "convert_failed_file_list.txt").string())
      .write([&](std::ostream& out) {
        std::string last;
        for (const ConvertFailure& failure : outcome.failures) {
          if (failure.file != last) out << failure.file << '\n';
          last = failure.file;
        }
      });
}

Dims parse_shape(const std::string& text) {
  std::string with_x = text;
  std::replace(with_x.begin(), with_x.end(), ',', 'x');
  return parse_dims(with_x);
}

void check_device_flags(const ConvertFlags& flags) {
  if (!flags.sources.empty()) throw Error("-d names the dumps; no other sources are allowed");
  if (flags.version != 1 && flags.version != 2) {
    throw Error(fmt::format("-v: found {}; allowed are 1 and 2", flags.version));
  }
  if (flags.input >= 0 && flags.output >= 0) throw Error("-i and -o: only one is allowed");
  const bool wants_one = flags.input >= 0 || flags.output >= 0;
  if (flags.format.empty() && (wants_one || !flags.shape.empty())) {
    throw Error("-s, -i and -o need a format (-f)");
  }
  const bool is_one_file = flags.dumps.size() == 1 && !is_directory(flags.dumps.front());
  if (!is_one_file && (wants_one || !flags.shape.empty())) {
    throw Error("-s, -i and -o are for one file");
  }
}

int convert_dumps(const ConvertFlags& flags, CommandContext& context) {
  check_device_flags(flags);
  DeviceConversion conversion;
  conversion.sources = flags.dumps;
  conversion.out = flags.out;
  conversion.version = static_cast<DeviceDumpVersion>(flags.version);
  conversion.output = flags.type == "npy"   ? DeviceOutput::npy
                      : flags.type == "bin" ? DeviceOutput::bin
                                            : DeviceOutput::msnpy;
  if (flags.type != "npy" && flags.type != "bin" && flags.type != "msnpy") {
    throw Error(fmt::format("-t: found '{}'; allowed are npy, bin, msnpy", flags.type));
  }
  if (!flags.format.empty()) conversion.format = flags.format;
  if (!flags.shape.empty()) conversion.shape = parse_shape(flags.shape);
  if (flags.input >= 0 || flags.output >= 0) {
    DeviceTensor only;
    only.side = flags.input >= 0 ? Side::input : Side::output;
    only.index = std::max(flags.input, flags.output);
    conversion.only = only;
  }
  const ConvertOutcome outcome = convert_device_dumps(context.ranks, conversion, interrupted);
  if (!context.ranks.is_first()) return kAllWell;
  list_failures(outcome, flags);
  return report(outcome, flags, context);
}

// From dump to dump, records are copied with all that they hold.
bool is_copy(const ArrayConversion& conversion) {
  const fs::path first = conversion.sources.front();
  const bool is_dump =
      first.extension() == ".h5" || first.extension() == ".hdf5" || !has_known_suffix(first);
  return conversion.to == ArrayOutput::h5 && conversion.sources.size() == 1 && is_dump &&
         !is_directory(first);
}

int convert_files(const ConvertFlags& flags, CommandContext& context) {
  if (flags.sources.empty()) throw UsageError("SOURCE or -d is required");
  if (flags.out.empty()) throw UsageError("--out is required");
  ArrayConversion conversion;
  conversion.sources = flags.sources;
  conversion.out = flags.out;
  conversion.to = array_output(flags.to, flags.out);
  conversion.device = parse_device(flags.device);
  conversion.overwrite = context.overwrite;
  require_room(conversion);
  if (conversion.is_one_file()) {
    std::vector<NamedFile> read = {{"--failed", flags.choice.failed}};
    for (const std::string& source : flags.sources) read.push_back({"the source", source});
    check_files(read, std::vector<NamedFile>{{"-o", flags.out}}, context);
  }
  if (is_copy(conversion)) {
    return copy_records(flags.sources.front(), flags.out, flags.choice, context);
  }
  conversion.only = chosen_arrays(flags.sources, flags.choice);
  return report(convert_arrays(conversion, interrupted), flags, context);
}

}  // namespace

void translate_msaccucmp_convert_options(std::vector<std::string>& args) {
  const auto names_dumps = [](std::string_view word) {
    return name_in(word) == "-d" || name_in(word) == "--dump_path";
  };
  if (std::none_of(args.begin(), args.end(), names_dumps)) return;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string_view name = name_in(args[i]);
    if (name == "-c") throw UsageError("-c is not supported: it runs a program on the data");
    const auto option =
        std::find_if(kConvertOptions.begin(), kConvertOptions.end(),
                     [&](const ConvertOption& known) { return known.theirs == name; });
    if (option == kConvertOptions.end()) continue;
    const bool has_value = name.size() < args[i].size();
    if (!has_value && i + 1 == args.size()) {
      throw UsageError(fmt::format("{} needs a value", option->theirs));
    }
    args[i].replace(0, name.size(), option->ours);
    if (!has_value) ++i;  // the value may look like an option
  }
}

std::string msaccucmp_convert_options_help() {
  return "With -d the command line is msaccucmp's: -d -out -f -s -i -o -v -t. -c is refused.";
}

void add_convert_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("convert", "Copy parts of a dump; convert .h5 .npy .npz .txt .bin .pt");
  const auto flags = std::make_shared<ConvertFlags>();
  command.option("SOURCE", flags->sources, "Files or directories", {.value = "FILE"});
  command.option("-o,--out", flags->out,
                 "Output directory, or file: .npz, .h5, for one array also .npy .txt .bin [with "
                 "-d: current directory]",
                 {.value = "FILE"});
  command.option("--to", flags->to, "Output format [by the name of --out, else npy]",
                 {.value = "npy|npz|txt|bin|h5"});
  command.option("--only", flags->choice.only,
                 "Only operators or arrays whose name or path matches this regular expression",
                 {.value = "REGEX"});
  command.option("--path", flags->choice.paths,
                 "Only this part of a dump: /op, /op/number, or a tensor; may be repeated",
                 {.value = "PATH", .values = ValueSplit::one_each});
  command.option("--failed", flags->choice.failed,
                 "Only operators that failed in compare.json of `opbench compare -o`, or in the "
                 "JSON of `opbench judge`",
                 {.value = "FILE"});
  command.option("--device", flags->device, "DeviceType of the tensors in an .h5 file",
                 {.value = "cpu|cuda|npu", .shows_default = true});
  const std::string group = "Dumps of a device";
  command.option("--device-dump", flags->dumps,
                 "Dump files, or one directory with its subdirectories",
                 {.value = "FILE", .group = group, .values = ValueSplit::by_commas});
  command.option("--format", flags->format,
                 "Convert to this format, such as NCHW, NHWC, HWCN, ND, NCDHW, FRACTAL_Z",
                 {.value = "NAME", .group = group});
  command.option("--shape", flags->shape, "Shape without padding [that of the dump]",
                 {.value = "N,C,H,W", .group = group});
  command.option("--input-index", flags->input, "Only this input",
                 {.value = "NUMBER", .group = group});
  command.option("--output-index", flags->output, "Only this output",
                 {.value = "NUMBER", .group = group});
  command.option("--type", flags->type, "Format of files and their names",
                 {.value = "npy|bin|msnpy", .group = group, .shows_default = true});
  command.option("--dump-version", flags->version, "1: one protobuf message; 2: header and data",
                 {.value = "1|2", .group = group, .shows_default = true});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.common({"--out", "--to", "--only", "--path", "--failed", "--device", "--device-dump",
                  "--format", "--shape", "--type", "--overwrite"});
  command.footer(kConvertFooter + msaccucmp_convert_options_help());
  command.action([flags, &context] {
    refuse_standard_output("-o", flags->out, "arrays", "a folder or a file");
    watch_interrupts();
    // One process must write: all arrays may go into one file.
    if (flags->dumps.empty() && !context.ranks.is_first()) return int{kAllWell};
    if (flags->dumps.empty()) return convert_files(*flags, context);
    if (flags->out.empty()) flags->out = ".";
    return convert_dumps(*flags, context);
  });
}

}  // namespace opbench
