#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <ostream>

#include "cli/cli.h"
#include "cli/command.h"
#include "harness/case.h"
#include "kernels/kernel.h"
#include "tensor/error.h"

namespace opbench {
namespace {

template <class Values>
std::string names_of(const Values& values) {
  std::vector<std::string_view> names;
  for (const auto value : values) names.push_back(name(value));
  return fmt::format("{}", fmt::join(names, " "));
}

// On a small tensor of the kind.
std::string refusal_for(const Op& op, const Kernel& kernel, DType dtype, Format format) {
  const Dims probe = format == Format::NCDHW ? Dims{2, 20, 3, 3, 3}
                     : format == Format::ND  ? Dims{2, 20}
                                             : Dims{2, 20, 3, 3};
  const Attrs attrs(op.attrs);
  try {
    return refusal(
        kernel,
        make_problem(op, describe_inputs(op, shapes_like(op, probe, attrs), dtype, format, attrs),
                     attrs));
  } catch (const Error&) {
    return "the operator does not take this";
  }
}

void print_kernel(std::ostream& out, const Op& op, const Kernel& kernel) {
  out << fmt::format("  {:<24} {:<7} {}\n", kernel.name, name(kernel.provider), kernel.summary);
  std::map<std::string, std::vector<std::string>> refused;
  for (const DType dtype : op.dtypes) {
    for (const Format format : op.formats) {
      const std::string reason = refusal_for(op, kernel, dtype, format);
      if (!reason.empty())
        refused[reason].push_back(fmt::format("{} {}", name(dtype), name(format)));
    }
  }
  for (const auto& [reason, kinds] : refused) {
    out << fmt::format("  {:<24} {:<7} not {}: {}\n", "", "", fmt::join(kinds, ", "), reason);
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
  for (const Kernel* kernel : kernels_of(op.name)) print_kernel(out, op, *kernel);
}

int list(const std::vector<std::string>& ops, std::ostream& out) {
  std::vector<const Op*> wanted;
  for (const std::string& name : ops) wanted.push_back(&find_op(name));
  if (ops.empty()) wanted = RegisteredOp::all();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0) out << '\n';
    print_op(out, *wanted[i]);
  }
  return kAllWell;
}

}  // namespace

void add_list_command(CLI::App& app, CommandContext& context, Action& action) {
  CLI::App* command =
      app.add_subcommand("list", "Operators, their variants, and what each accepts or why not");
  const auto ops = std::make_shared<std::vector<std::string>>();
  command->add_option("op", *ops, "Only these operators");
  add_common_flags(*command, context);
  command->footer("Example:\n  opbench list softplus");
  command->callback(
      [&context, &action, ops] { action = [&context, ops] { return list(*ops, context.out); }; });
}

}  // namespace opbench
