#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "harness/plan/case.h"
#include "kernels/kernel.h"
#include "tensor/error.h"
#include "text/fitted.h"
#include "text/program.h"
#include "text/table.h"

namespace opbench {
namespace {

template <class Values>
std::string joined_names(const Values& values) {
  std::vector<std::string_view> names;
  for (const auto value : values) names.push_back(name(value));
  return fmt::format("{}", fmt::join(names, " "));
}

// A small tensor of the kind, with the default attributes; null if the operator does not accept it.
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

// "NCHW ND" for all dtypes, else "fp64 bool as NCHW ND".
std::string text_of(const Op& op, const Kinds& kinds) {
  std::map<std::string, std::vector<std::string_view>> formats;
  for (const auto& [format, dtypes] : kinds) {
    const bool all = dtypes.size() == op.dtypes.size();
    formats[all ? "" : fmt::format("{} as ", joined_names(dtypes))].push_back(name(format));
  }
  std::vector<std::string> parts;
  for (const auto& [dtypes, names] : formats) {
    parts.push_back(fmt::format("{}{}", dtypes, fmt::join(names, " ")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Prints `head` and then `text`. Continuation lines begin in the column of `text`.
void put(const CommandContext& context, const std::string& head, const std::string& text) {
  say(context.out, head + text, 0, head.size(), context.width());
}

// Rows of a variant: its name, its provider and its description.
void add_rows(TextTable& table, const Op& op, const Kernel& kernel) {
  table.rows.push_back(
      {std::string(kernel.name), std::string(name(kernel.provider)), std::string(kernel.summary)});
  const auto below = [&](std::string text) { table.rows.push_back({"", "", std::move(text)}); };
  std::map<std::string, Kinds> refused, noted;
  for (const DType dtype : op.dtypes) {
    for (const Format format : op.formats) {
      const std::optional<Problem> problem = probe(op, dtype, format);
      const std::string reason = problem ? refusal(kernel, *problem) : "";
      const std::string rule = reason.substr(0, reason.find(", found "));  // one for all dtypes
      if (!rule.empty()) refused[rule][format].push_back(dtype);
      const std::string remark = problem ? note(kernel, *problem) : "";
      if (!remark.empty()) noted[remark][format].push_back(dtype);
    }
  }
  for (const auto& [reason, kinds] : refused) {
    below(fmt::format("not {}: {}", text_of(op, kinds), reason));
  }
  for (const auto& [remark, kinds] : noted) {
    below(fmt::format("{}: {}", text_of(op, kinds), remark));
  }
  if (kernel.takes != InputRange::any) {
    below(fmt::format("{} inputs are outside its contract", kernel.takes == InputRange::finite
                                                                ? "NaN and Inf"
                                                                : "NaN, Inf and subnormal"));
  }
}

void print_op(const CommandContext& context, const Op& op) {
  put(context, fmt::format("{}: ", op.name), std::string(op.summary));
  put(context, "  source ", std::string(op.source));
  put(context, "  ",
      fmt::format("dtypes {}; formats {}{}", joined_names(op.dtypes), joined_names(op.formats),
                  op.gradient == nullptr ? "" : "; has a gradient"));
  for (const AttrSpec& attr : op.attrs) {
    put(context, "  ",
        fmt::format("{} = {}: {}", attr.name, to_string(attr.default_value), attr.help));
  }
  Kinds untaken;
  for (const DType dtype : op.dtypes) {
    for (const Format format : op.formats) {
      if (!probe(op, dtype, format)) untaken[format].push_back(dtype);
    }
  }
  if (!untaken.empty()) {
    put(context, "  not with these defaults: ", text_of(op, untaken));
  }
  TextTable variants{columns_of("||")};
  for (const Kernel* kernel : kernels_of(op.name)) add_rows(variants, op, *kernel);
  print_table(context.out, variants, {false, context.width()});
}

/// Operators with a common property, found from their definitions; the first match counts.
struct OperatorGroup {
  const char* title;
  bool (*has)(const Op& op);
};

constexpr OperatorGroup kGroups[] = {
    {"Gradients", [](const Op& op) { return op.name.find("_grad") != op.name.npos; }},
    {"Data movement, conversions, comparisons: the same bits are expected",
     [](const Op& op) { return op.accuracy != AccuracyClass::rounded; }},
    {"Element by element", [](const Op& op) { return op.mixing == Mixing::none; }},
    {"Sums and means: convolutions, matrix products, pools, reductions",
     [](const Op& op) { return op.mixing == Mixing::sums; }},
    {"Others over many elements: norms, softmax, losses", [](const Op&) { return true; }},
};

void print_groups(const CommandContext& context) {
  std::map<const OperatorGroup*, std::vector<std::string_view>> names;
  const auto ops = RegisteredOp::all();
  for (const Op* op : ops) {
    const auto group = std::find_if(std::begin(kGroups), std::end(kGroups),
                                    [&](const OperatorGroup& one) { return one.has(*op); });
    names[&*group].push_back(op->name);
  }
  for (const auto& [group, members] : names) {
    context.out << group->title << '\n';
    put(context, "  ", fmt::format("{}", fmt::join(members, " ")));
  }
  context.out << "\n";
  context.out << fmt::format(
      "{0} operators. {1} list OP: its formula, its variants and what they accept;\n"
      "{1} list --verbose: the same for all operators.\n",
      ops.size(), program_name());
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

int list(const ListFlags& flags, CommandContext& context) {
  if (flags.names) {
    print_names(context.out, flags);
    return kAllWell;
  }
  if (flags.ops.empty() && !context.verbose) {
    print_groups(context);
    return kAllWell;
  }
  std::vector<const Op*> wanted;
  for (const std::string& name : flags.ops) wanted.push_back(&find_op(name));
  if (flags.ops.empty()) wanted = RegisteredOp::all();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0) context.out << '\n';
    print_op(context, *wanted[i]);
  }
  return kAllWell;
}

}  // namespace

void add_list_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("list", "List operators, or the variants of one and what each accepts");
  const auto flags = std::make_shared<ListFlags>();
  command.option("OP", flags->ops, "Operators to show with their variants", {"OP"});
  command.flag("--names", flags->names,
               "Only names, one a line: all operators, or the variants of the named operators");
  add_common_flags(command, context);
  command.footer(
      "Examples:\n  opbench list                 the names of all operators, in groups\n"
      "  opbench list softplus        its formula and variants\n"
      "  opbench list --names softplus");
  command.action([&context, flags] { return list(*flags, context); });
}

}  // namespace opbench
