#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "harness/spec/case.h"
#include "kernels/registry/kernel.h"
#include "tensor/error.h"

namespace opbench {
namespace {

template <class Values>
std::string names_of(const Values& values) {
  std::vector<std::string_view> names;
  for (const auto value : values) names.push_back(name(value));
  return fmt::format("{}", fmt::join(names, " "));
}

// A small tensor of the kind, with the default attributes; none where the operator takes no such.
std::optional<Problem> probe(const Op& op, DType dtype, Format format) {
  const Dims shape = origin_format_of(format) == Format::NCDHW ? Dims{2, 20, 3, 3, 3}
                     : format == Format::ND                    ? Dims{2, 20}
                                                               : Dims{2, 20, 3, 3};
  const Attrs attrs(op.attrs);
  try {
    return make_problem(
        op, describe_inputs(op, shapes_like(op, shape, attrs), dtype, format, attrs), attrs);
  } catch (const Error&) {
    return std::nullopt;
  }
}

using Kinds = std::map<Format, std::vector<DType>>;

// "NCHW ND" where all dtypes are meant, else "fp64 bool as NCHW ND".
std::string text_of(const Op& op, const Kinds& kinds) {
  std::map<std::string, std::vector<std::string_view>> formats;
  for (const auto& [format, dtypes] : kinds) {
    const bool all = dtypes.size() == op.dtypes.size();
    formats[all ? "" : fmt::format("{} as ", names_of(dtypes))].push_back(name(format));
  }
  std::vector<std::string> parts;
  for (const auto& [dtypes, names] : formats) {
    parts.push_back(fmt::format("{}{}", dtypes, fmt::join(names, " ")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void print_kernel(std::ostream& out, const Op& op, const Kernel& kernel) {
  out << fmt::format("  {:<24} {:<7} {}\n", kernel.name, name(kernel.provider), kernel.summary);
  std::map<std::string, Kinds> refused, noted;
  for (const DType dtype : op.dtypes) {
    for (const Format format : op.formats) {
      const std::optional<Problem> problem = probe(op, dtype, format);
      const std::string reason = problem ? refusal(kernel, *problem) : "";
      if (!reason.empty()) refused[reason][format].push_back(dtype);
      const std::string remark = problem ? note(kernel, *problem) : "";
      if (!remark.empty()) noted[remark][format].push_back(dtype);
    }
  }
  for (const auto& [reason, kinds] : refused) {
    out << fmt::format("  {:<24} {:<7} not {}: {}\n", "", "", text_of(op, kinds), reason);
  }
  for (const auto& [remark, kinds] : noted) {
    out << fmt::format("  {:<24} {:<7} {}: {}\n", "", "", text_of(op, kinds), remark);
  }
  if (kernel.takes != InputRange::any) {
    out << fmt::format(
        "  {:<24} {:<7} {} inputs are outside its contract\n", "", "",
        kernel.takes == InputRange::finite ? "NaN and Inf" : "NaN, Inf and subnormal");
  }
}

void print_op(std::ostream& out, const Op& op) {
  out << fmt::format("{}: {}\n", op.name, op.summary);
  out << fmt::format("  source {}\n", op.source);
  out << fmt::format("  dtypes {}; formats {}{}\n", names_of(op.dtypes), names_of(op.formats),
                     op.gradient == nullptr ? "" : "; has a gradient");
  for (const AttrSpec& attr : op.attrs) {
    out << fmt::format("  {} = {}: {}\n", attr.name, to_string(attr.default_value), attr.help);
  }
  Kinds untaken;
  for (const DType dtype : op.dtypes) {
    for (const Format format : op.formats) {
      if (!probe(op, dtype, format)) untaken[format].push_back(dtype);
    }
  }
  if (!untaken.empty()) {
    out << fmt::format("  not with these defaults: {}\n", text_of(op, untaken));
  }
  for (const Kernel* kernel : kernels_of(op.name)) print_kernel(out, op, *kernel);
}

struct ListFlags {
  std::vector<std::string> ops;
  bool names = false;
};

// One name a line, for scripts: of the operators, or of the variants of those that are named.
void print_names(std::ostream& out, const ListFlags& flags) {
  if (flags.ops.empty()) {
    for (const Op* op : RegisteredOp::all()) out << op->name << '\n';
  }
  for (const std::string& op : flags.ops) {
    for (const Kernel* kernel : kernels_of(find_op(op).name)) out << kernel->name << '\n';
  }
}

int list(const ListFlags& flags, std::ostream& out) {
  if (flags.names) {
    print_names(out, flags);
    return kAllWell;
  }
  std::vector<const Op*> wanted;
  for (const std::string& name : flags.ops) wanted.push_back(&find_op(name));
  if (flags.ops.empty()) wanted = RegisteredOp::all();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0) out << '\n';
    print_op(out, *wanted[i]);
  }
  return kAllWell;
}

}  // namespace

void add_list_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("list", "Operators, their variants, and what each accepts or why not");
  const auto flags = std::make_shared<ListFlags>();
  command.option("OP", flags->ops, "Only these operators", {"OP"});
  command.flag("--names", flags->names,
               "Names alone, one a line: of all operators, or of the variants of those named");
  add_common_flags(command, context);
  command.footer("Examples:\n  opbench list softplus\n  opbench list --names");
  command.action([&context, flags] { return list(*flags, context.out); });
}

}  // namespace opbench
