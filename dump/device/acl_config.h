#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Tensors of a task that are dumped.
enum class AclDumpMode { input, output, all };

/// A model whose tasks are dumped.
struct AclModel {
  std::string name;                 ///< empty: every model
  std::vector<std::string> layers;  ///< names of the dumped tasks; empty: all
};

/// Content of "dump" in an acl.json.
struct AclConfig {
  std::string file;  ///< path of the acl.json
  std::filesystem::path path;
  AclDumpMode mode = AclDumpMode::output;
  std::vector<AclModel> models;  ///< dump_list; empty: all models
  bool dumps_operators = false;  ///< dump_op_switch: also dumps single operators

  /// Returns the entry of the list for a model of this name; null if the model is not dumped.
  const AclModel* find(std::string_view model) const;
};

/// Reads an acl.json: {"dump": {"dump_list": [{"model_name": .., "layer": [..]}], "dump_path": ..,
/// "dump_mode": "output"|"input"|"all", "dump_op_switch": "off"|"on"}}. Only dump_path is required.
/// Members next to "dump" are ignored.
/// Errors: throws Error with file and field, also for fields of "dump" that are not supported.
/// Source: CANN's acl.json, as read by aclmdlSetDump.
AclConfig read_acl_config(const std::string& file);

/// Errors: throws Error with the setting to change if the configuration dumps nothing that runs
/// (single operators if `has_operators`, and the named models), or if a listed model does not run.
void require_dumped(const AclConfig& config, bool has_operators,
                    const std::vector<std::string>& models);

}  // namespace opbench
