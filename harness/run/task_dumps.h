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

/// Writes tasks like a device that runs with an acl.json. Each task has a file:
///     {dump_path}/{time}/0/{model}/0/{op_type}.{op_name}.{task}.0.{microseconds}
/// The time is YYYYMMDDhhmmss; the folders 0 are the device and the iteration. Models are numbered,
/// starting at 1. Each variant of a case and each step of a context is a model; {time}/models.csv
/// lists them. All tasks are modelled on the host, in the layouts of the device.
///
/// Errors: throws RunError if a file cannot be written. It writes nothing more then.
class TaskDumps {
 public:
  /// Makes the folder of the run.
  explicit TaskDumps(AclConfig config);
  /// Removes the folder if it is empty.
  ~TaskDumps();
  TaskDumps(const TaskDumps&) = delete;
  TaskDumps& operator=(const TaskDumps&) = delete;

  /// True if a task of the unit is selected.
  bool takes(const WorkUnit& unit) const;

  /// Starts the tasks of this variant or step.
  void begin_model(const OpenUnit& open, std::size_t variant);
  /// Call before a task runs. Keeps its inputs if they are selected.
  void begin_task(const OpenUnit& open, std::size_t variant, std::size_t node);
  /// Call after the task has run. Completes the file.
  void end_task(const OpenUnit& open, std::size_t variant, std::size_t node);

  /// Writes models.csv.
  /// Errors: throws RunError, also if a task could not be written.
  void finish();

  /// "/dumps/20261123060000".
  const std::filesystem::path& folder() const { return folder_; }
  std::int64_t tasks() const { return tasks_; }
  bool has_failed() const { return has_failed_; }
  /// Layers of the dump_list that match no task.
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
  std::set<std::string> layers_;  ///< of the dump_list that matched a task
  std::optional<DeviceDumpWriter> task_;
  std::int64_t tasks_ = 0;
  std::uint64_t time_ = 0;  ///< of the last task, microseconds since 1970
  bool has_failed_ = false;
};

}  // namespace opbench
