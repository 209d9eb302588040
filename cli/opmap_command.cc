#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/command.h"
#include "compare/name_map_file.h"
#include "ops/op_table.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr const char* kOpmapFooter =
    R"(opbench judge recomputes recorded operators by this table. --map adds rows, which are tried first. --to yaml prints
rows in the form of such a file.

Examples:
  opbench opmap
  opbench opmap CudnnConvolutionBackward aten::add_.Tensor
  opbench opmap --to yaml > mine.yaml

Exit code 4: no row is selected.)";

struct OpmapFlags {
  std::vector<std::string> names;
  std::string map_file, to = "text";
};

// The reason why dumps do not name an operator of opbench: "; dumps hold its element-wise steps".
std::string why_none(const std::string& name) {
  for (const Op* op : RegisteredOp::all()) {
    if (op->name == name) return fmt::format("; {}", op->known_as.not_recorded);
  }
  return {};
}

int opmap(const OpmapFlags& flags, CommandContext& context) {
  if (flags.to != "text" && flags.to != "json" && flags.to != "yaml") {
    throw Error(fmt::format("--to is '{}'; allowed are text, json and yaml", flags.to));
  }
  std::optional<OpTable> extended;
  if (!flags.map_file.empty()) extended = OpTable::load(flags.map_file);
  const OpTable& table = extended ? *extended : OpTable::builtin();
  const NameMap map = flags.map_file.empty() ? default_name_map() : load_name_map(flags.map_file);
  bool is_any = flags.names.empty();
  for (const std::string& name : flags.names) {
    const bool is_known =
        !table.find(name).empty() ||
        std::any_of(table.rows().begin(), table.rows().end(), [&](const OpRow& row) {
          return std::any_of(row.uses.begin(), row.uses.end(),
                             [&](const OpUse& use) { return use.op->name == name; });
        });
    is_any |= is_known;
    if (!is_known) context.complain(fmt::format("no row for '{}'{}", name, why_none(name)));
  }
  if (!is_any) return kNothingToJudge;
  if (flags.to == "text") {
    print_op_table(context.out, table, map.ops, flags.names, context.width());
  } else {
    const auto write = flags.to == "json" ? write_op_table_json : write_op_table_yaml;
    write(context.out, table, map.ops, flags.names);
  }
  return kAllWell;
}

}  // namespace

void add_opmap_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("opmap", "Show which operator of opbench a name in a dump means");
  const auto flags = std::make_shared<OpmapFlags>();
  command.option("NAME", flags->names, "Only rows with these names, of dumps or of opbench",
                 {.value = "NAME"});
  command.option("--map", flags->map_file, "More rows and pairs of names", {.value = "FILE"});
  command.option("--to", flags->to, "Output format",
                 {.value = "text|json|yaml", .shows_default = true});
  add_common_flags(command, context);
  command.footer(kOpmapFooter);
  command.action([&context, flags] { return opmap(*flags, context); });
}

}  // namespace opbench
