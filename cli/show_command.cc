#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/named_files.h"
#include "compare/dump_comparison.h"
#include "dump/dump_selection.h"
#include "harness/report/shown_tensor.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/name_pattern.h"
#include "text/program.h"

namespace opbench {
namespace {

constexpr const char* kShowFooter = R"(Examples:
  opbench show npu.h5                                 every tensor with its range and histogram
  opbench show npu.h5 /softplus/2                     one operator, with an excerpt of its values
  opbench show npu.h5 --only 'Conv.*Backward' --stats
  opbench show npu.h5 --no-values                     only the tree; reads no data
  opbench show step0/rank0                            a folder of msprobe, or of .npy files
  opbench show npu.h5 --json - | python3 -c 'import pandas, sys; print(pandas.read_json(sys.stdin))'

Ranges, means and histograms are of the finite values. NaN and Inf are counted separately.
Exit code 3: something in the file could not be read.)";

struct ShowFlags {
  std::string file;
  std::vector<std::string> paths;
  std::string only;
  bool stats = false;
  bool no_values = false;
  std::string json;
  std::int64_t max_elements = kMaxElements;
};

/// The tensors that were read, for the table of --json. Without --json nothing is kept.
class Shown {
 public:
  explicit Shown(bool is_kept) : is_kept_(is_kept) {}

  void add(const ShownTensor& tensor) {
    if (tensor.is_unread && unread_++ == 0) {
      first_unread_ = fmt::format("{}: {}", tensor.entry->path, tensor.problem);
    }
    if (is_kept_) tensors_.push_back(tensor);
  }
  /// "3 tensors could not be read, first /op/1/input/x: why"; empty: all were read.
  std::string unread_text() const {
    if (unread_ == 0) return {};
    return fmt::format("{} could not be read, first {}", counted(unread_, "tensor"), first_unread_);
  }
  const std::vector<ShownTensor>& tensors() const { return tensors_; }

 private:
  bool is_kept_;
  std::size_t unread_ = 0;
  std::string first_unread_;
  std::vector<ShownTensor> tensors_;
};

/// Prints while it reads.
class Show {
 public:
  Show(DumpSource& file, const ShowFlags& flags, CommandContext& context)
      : file_(file),
        flags_(flags),
        out_(context.out),
        style_{{context.colour(), context.width()}, takes_unicode(), !flags.no_values, flags.stats},
        shown_(!flags.json.empty()) {}

  const Shown& print() {
    DumpQuery query{flags_.paths, {}};
    if (!flags_.only.empty()) query.only = name_pattern(flags_.only, "--only");
    const DumpSelection selection = select({file_.name(), file_.records(), file_.strays()}, query);
    ShowPage page(out_, selection, style_);
    out_ << describe(file_.name(), selection) << '\n';
    if (!selection.records.empty() || !selection.strays.empty()) page.print_titles();
    for (const SelectedRecord& record : selection.records) {
      page.print_record(*record.record);
      for (const DumpEntry* entry : record.entries) print_one(page, record.record, *entry);
    }
    if (!selection.strays.empty()) page.print_strays();
    for (const DumpEntry* entry : selection.strays) print_one(page, nullptr, *entry);
    for (const std::string& problem : file_.problems()) {
      out_ << coloured(printable(problem), kRed, style_) << '\n';
    }
    return shown_;
  }

 private:
  void print_one(ShowPage& page, const DumpRecord* record, const DumpEntry& entry) {
    const ShownTensor tensor =
        look_at(file_, record, entry, {!flags_.no_values, flags_.max_elements});
    page.print_tensor(tensor);
    if ((!flags_.paths.empty() || file_.is_one_array()) && tensor.summary)
      page.print_excerpt(excerpt_of(file_, entry));
    shown_.add(tensor);
  }

  DumpSource& file_;
  const ShowFlags& flags_;
  std::ostream& out_;
  ShowStyle style_;
  Shown shown_;
};

int show(const ShowFlags& flags, CommandContext& context) {
  if (flags.max_elements < 1) {
    throw Error(fmt::format("--max-elements is {}; it must be 1 or more", flags.max_elements));
  }
  check_files(std::vector<NamedFile>{{"the dump", flags.file}},
              std::vector<NamedFile>{{"--json", flags.json}}, context);
  DumpSource file(flags.file);
  file.records();  // before a result is reserved: the file may not be a dump
  std::optional<ResultFile> json;
  if (!flags.json.empty()) json.emplace(flags.json, context);
  Show run(file, flags, context);
  const Shown& shown = run.print();
  if (json) {
    json->write([&](std::ostream& out) { write_show_json(out, file.name(), shown.tensors()); });
  }
  const std::string unread = shown.unread_text();
  if (unread.empty() && file.damaged() == 0) return kAllWell;
  context.complain(
      fmt::format("{}: {}", file.name(),
                  unread.empty() ? fmt::format("{} objects are damaged", file.damaged()) : unread));
  return kCouldNotFinish;
}

}  // namespace

void add_show_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("show", "Show a dump: its tree, ranges, histograms and values");
  const auto flags = std::make_shared<ShowFlags>();
  command.option("FILE", flags->file, "The dump: .h5, .npy, .npz, .pt, or a folder",
                 {.value = "FILE", .is_required = true});
  command.option("PATH", flags->paths,
                 "Path to show, with an excerpt of its values: /op, /op/number, or a tensor",
                 {.value = "PATH"});
  command.option("--only", flags->only,
                 "Only operators whose name or tensor path matches this regular expression",
                 {.value = "REGEX"});
  command.flag("--stats", flags->stats,
               "Also deviation, zeros, storage layout, and the histogram in numbers");
  command.flag("--no-values", flags->no_values, "Only the tree: no data is read");
  command.option("--json", flags->json, "Table with a row for each tensor; - is standard output",
                 {.value = "FILE"});
  command.option("--max-elements", flags->max_elements,
                 "Tensors with more elements are not read: the file may be damaged or hostile",
                 {.value = "N", .shows_default = true});
  add_overwrite_flag(command, context);
  add_common_flags(command, context);
  command.footer(kShowFooter);
  command.action([&context, flags] { return show(*flags, context); });
}

}  // namespace opbench
