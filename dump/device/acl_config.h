#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Which tensors of a task are dumped.
enum class AclDumpMode { input, output, all };

/// A model of which tasks are dumped.
struct AclModel {
  std::string name;                 ///< empty: every model
  std::vector<std::string> layers;  ///< tasks by their names; empty: all of them
};

/// What the "dump" of an acl.json asks for.
struct AclConfig {
  std::string file;  ///< that says so
  std::filesystem::path path;
  AclDumpMode mode = AclDumpMode::output;
  std::vector<AclModel> models;  ///< dump_list; empty: all models
  bool dumps_operators = false;  ///< dump_op_switch: single operators, too

  /// The models of the list that a model of this name is; null if it is not to be dumped.
  const AclModel* find(std::string_view model) const;
};

/// Reads an acl.json: {"dump": {"dump_list": [{"model_name": .., "layer": [..]}], "dump_path": ..,
/// "dump_mode": "output"|"input"|"all", "dump_op_switch": "off"|"on"}}. All but dump_path may be
/// left out; what else the file holds beside "dump" is nobody's business.
/// Errors: throws Error that names file and field, also for fields of "dump" that are not honoured.
/// Source: CANN's acl.json, as aclmdlSetDump takes it.
AclConfig read_acl_config(const std::string& file);

/// Errors: throws Error that says what to change if none of what runs would be dumped: single
/// operators or not, and models by their names; or if a listed model does not run.
void require_dumped(const AclConfig& config, bool has_operators,
                    const std::vector<std::string>& models);

}  // namespace opbench
