#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dump/device/acl_config.h"
#include "dump/device/device_dump.h"
#include "harness/run/open_unit.h"

namespace opbench {

/// Writes tasks as a device does that runs with an acl.json: a file for each,
///     {dump_path}/{time}/0/{model}/0/{op_type}.{op_name}.{task}.0.{microseconds}
/// where the time is YYYYMMDDhhmmss, 0 the device and the iteration, and models are numbered from
/// 1: each variant of a case and each step of a context is one, and {time}/models.csv says which.
/// Everything is modelled on the host, in the layouts of the device.
///
/// Errors: throws RunError if something cannot be written, and takes nothing more then.
class TaskDumps {
 public:
  /// Makes the folder of the run.
  explicit TaskDumps(AclConfig config);
  /// Removes the folder if nothing was written there.
  ~TaskDumps();
  TaskDumps(const TaskDumps&) = delete;
  TaskDumps& operator=(const TaskDumps&) = delete;

  /// Is any task of the unit wanted?
  bool takes(const WorkUnit& unit) const;

  /// What follows are tasks of this variant or step.
  void begin_model(const OpenUnit& open, std::size_t variant);
  /// Before a task runs: keeps its inputs, if they are wanted.
  void begin_task(const OpenUnit& open, std::size_t variant, std::size_t node);
  /// After it has run: the file is complete.
  void end_task(const OpenUnit& open, std::size_t variant, std::size_t node);

  /// Writes models.csv. Errors: throws RunError also if a task could not be written.
  void finish();

  /// "/dumps/20261123060000".
  const std::filesystem::path& folder() const { return folder_; }
  std::int64_t tasks() const { return tasks_; }
  bool has_failed() const { return has_failed_; }
  /// Layers of the dump_list that no task was.
  std::vector<std::string> unknown_layers() const;

 private:
  struct Model {
    std::string id, name;  ///< of the case or context, and of the variant or step
    std::int64_t tasks = 0;
  };

  bool takes_layer(const WorkUnit& unit, const std::string& name);
  std::string file_name(const UnitVariant& variant, std::size_t node, const std::string& op_name);
  std::filesystem::path model_folder() const;

  AclConfig config_;
  std::filesystem::path folder_;
  std::vector<Model> models_;
  std::set<std::string> layers_;  ///< of the dump_list that were met
  std::optional<DeviceDumpWriter> task_;
  std::int64_t tasks_ = 0;
  std::uint64_t time_ = 0;  ///< of the last task, microseconds since 1970
  bool has_failed_ = false;
};

}  // namespace opbench
