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
#include "profiles/unsupported_operators.h"
#include "tensor/error.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/input_file.h"

namespace opbench {
namespace {

constexpr const char* kOpmapFooter =
    R"(opbench judge recomputes recorded operators by this table. --map adds rows, which are tried first. --to yaml prints
rows in the form of such a file.

--network lists what an NPU or opbench does not have among the operators of a network. Its file is what
torch.autograd.profiler prints (key_averages().table()) or exports as a trace, on any device.

Examples:
  opbench opmap
  opbench opmap CudnnConvolutionBackward aten::add_.Tensor
  opbench opmap --to yaml > mine.yaml
  opbench opmap --network operators.txt --npu-ops supported.md

Exit code 4: no row is selected, or the network has no operator.)";

struct OpmapFlags {
  std::vector<std::string> names;
  std::string map_file, to = "text", network, npu_ops;
};

// The reason why dumps do not name an operator of opbench: "; dumps hold its element-wise steps".
std::string why_none(const std::string& name) {
  for (const Op* op : RegisteredOp::all()) {
    if (op->name == name) return fmt::format("; {}", op->known_as.not_recorded);
  }
  return {};
}

// The operator of opbench that a name means; "-" if none does.
std::string_view own_name(const OpTable& table, const std::string& name) {
  const std::vector<const OpRow*> rows = table.find(name);
  if (rows.empty()) return "-";
  return rows.front()->uses.empty() ? "random" : rows.front()->uses.front().op->name;
}

int list_network(const OpmapFlags& flags, const OpTable& table, CommandContext& context) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  const std::vector<std::string> names =
      framework_operators(read_input_file(flags.network, "--network", kMostBytes));
  std::optional<OperatorList> listed;
  if (!flags.npu_ops.empty()) listed.emplace(read_input_file(flags.npu_ops, "--npu-ops"));
  if (names.empty()) {
    context.complain(flags.network + " names no operator of PyTorch");
    return kNothingToJudge;
  }
  std::size_t not_here = 0, not_listed = 0;
  for (const std::string& name : names) {
    const std::string_view own = own_name(table, name);
    const bool is_missing = listed && !listed->has(name);
    not_here += own == "-" ? 1 : 0;
    not_listed += is_missing ? 1 : 0;
    if (own != "-" && !is_missing) continue;
    context.out << fmt::format("{:<40} opbench: {}{}\n", printable(name), own,
                               is_missing ? "; not of the NPU" : "");
  }
  context.out << fmt::format("{}: {} not in opbench", counted(std::ssize(names), "operator"),
                             not_here);
  if (listed) context.out << fmt::format(", {} not in {}", not_listed, flags.npu_ops);
  context.out << '\n';
  return kAllWell;
}

int opmap(const OpmapFlags& flags, CommandContext& context) {
  if (flags.to != "text" && flags.to != "json" && flags.to != "yaml") {
    throw Error(fmt::format("--to is '{}'; allowed are text, json and yaml", flags.to));
  }
  std::optional<OpTable> extended;
  if (!flags.map_file.empty()) extended = OpTable::load(flags.map_file);
  const OpTable& table = extended ? *extended : OpTable::builtin();
  if (!flags.network.empty()) return list_network(flags, table, context);
  if (!flags.npu_ops.empty()) throw Error("--npu-ops needs --network FILE");
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
  command.option("--network", flags->network,
                 "List what of a network's operators is missing: output of torch.autograd.profiler",
                 {.value = "FILE"});
  command.option("--npu-ops", flags->npu_ops,
                 "With --network: operators of the NPU, as a list in any form", {.value = "FILE"});
  command.option("--to", flags->to, "Output format",
                 {.value = "text|json|yaml", .shows_default = true});
  add_common_flags(command, context);
  command.footer(kOpmapFooter);
  command.action([&context, flags] { return opmap(*flags, context); });
}

}  // namespace opbench
