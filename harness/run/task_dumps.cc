#include "harness/run/task_dumps.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <ostream>
#include <system_error>

#include "dump/device/device_names.h"
#include "harness/plan/plan_tasks.h"
#include "tensor/error.h"
#include "text/cell.h"
#include "text/output_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// Makes a folder with a unique name, even for runs within one second.
fs::path make_run_folder(const fs::path& parent) {
  make_directory(parent);
  for (std::time_t now = std::time(nullptr);; ++now) {
    const fs::path folder = parent / fmt::format("{:%Y%m%d%H%M%S}", fmt::localtime(now));
    std::error_code error;
    if (fs::create_directory(folder, error)) return folder;
    if (error) {
      throw RunError(
          fmt::format("cannot make directory '{}': {}", folder.string(), error.message()));
    }
  }
}

std::uint64_t microseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// Spelling of an operator's name in a device's file names.
std::string spelled(std::string name) {
  constexpr std::string_view kReplaced = "./\\ ";
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return kReplaced.find(c) != kReplaced.npos; }, '_');
  return name;
}

std::string op_name(const WorkUnit& unit, const Node& node) {
  if (!node.name.empty()) return node.name;
  if (unit.record) return fmt::format("{}/{}", unit.record->op, unit.record->seq);
  return std::string(node.problem.op->name);
}

std::vector<TensorDesc> wanted(const std::vector<TensorDesc>& descs, bool is_wanted) {
  return is_wanted ? descs : std::vector<TensorDesc>();
}

}  // namespace

TaskDumps::TaskDumps(AclConfig config)
    : config_(std::move(config)), folder_(make_run_folder(config_.path)) {}

TaskDumps::~TaskDumps() {
  std::error_code ignored;
  if (tasks_ == 0) fs::remove_all(folder_, ignored);
}

bool TaskDumps::takes(const WorkUnit& unit) const {
  if (has_failed_) return false;
  return unit.is_context() ? config_.find(unit.context->spec.name) != nullptr
                           : config_.dumps_operators;
}

bool TaskDumps::takes_layer(const WorkUnit& unit, const std::string& name) {
  if (!unit.is_context()) return true;
  const std::vector<std::string>& layers = config_.find(unit.context->spec.name)->layers;
  if (layers.empty()) return true;
  if (std::find(layers.begin(), layers.end(), name) == layers.end()) return false;
  layers_.insert(name);
  return true;
}

fs::path TaskDumps::model_folder() const {
  return folder_ / "0" / std::to_string(models_.size()) / "0";
}

void TaskDumps::begin_model(const OpenUnit& open, std::size_t variant) {
  models_.push_back({open.unit().id, open.variant(variant).name()});
  make_directory(model_folder());
}

// A name that is too long for a file system is listed in mapping.csv in the same folder.
std::string TaskDumps::file_name(const UnitVariant& variant, std::size_t node,
                                 const std::string& op_name) {
  const std::string type = task_type(variant.graph->nodes[node], *variant.selection->kernels[node]);
  const std::string name = fmt::format("{}.{}.{}.0.{:016}", spelled(type), spelled(op_name),
                                       models_.back().tasks, time_);
  std::string file = fitting_file_name(name);
  if (file != name) add_to_name_mapping(model_folder(), {{file, name}});
  return file;
}

void TaskDumps::begin_task(const OpenUnit& open, std::size_t variant, std::size_t node) {
  const UnitVariant& run = open.variant(variant);
  const Node& task = run.graph->nodes[node];
  if (has_failed_ || !takes_layer(open.unit(), task.name)) return;
  const bool has_inputs = config_.mode != AclDumpMode::output;
  const std::string name = op_name(open.unit(), task);
  time_ = std::max(time_ + 1, microseconds());
  has_failed_ = true;  // until everything is written
  task_.emplace(model_folder() / file_name(run, node, name),
                DeviceDumpHead{name, time_, wanted(task.problem.inputs, has_inputs),
                               wanted(task.problem.outputs, config_.mode != AclDumpMode::input)});
  for (std::size_t i = 0; has_inputs && i < task.inputs.size(); ++i) {
    task_->write(Side::input, i, open.workspace().at(run, task.inputs[i]));
  }
}

void TaskDumps::end_task(const OpenUnit& open, std::size_t variant, std::size_t node) {
  if (!task_) return;
  const UnitVariant& run = open.variant(variant);
  const Node& task = run.graph->nodes[node];
  for (std::size_t i = 0; config_.mode != AclDumpMode::input && i < task.outputs.size(); ++i) {
    task_->write(Side::output, i, open.workspace().at(run, task.outputs[i]));
  }
  task_->finish();
  task_.reset();
  has_failed_ = false;
  ++models_.back().tasks;
  ++tasks_;
}

void TaskDumps::finish() {
  if (has_failed_) {
    throw RunError(fmt::format("{}: tasks are missing: an earlier write failed", folder_.string()));
  }
  if (tasks_ == 0) return;
  OutputFile((folder_ / "models.csv").string()).write([&](std::ostream& out) {
    out << "model_id,model_name,variant,tasks\n";
    for (std::size_t i = 0; i < models_.size(); ++i) {
      out << fmt::format("{},{},{},{}\n", i + 1, csv_quoted(models_[i].id),
                         csv_quoted(models_[i].name), models_[i].tasks);
    }
  });
}

std::vector<std::string> TaskDumps::unknown_layers() const {
  std::vector<std::string> unknown;
  for (const AclModel& model : config_.models) {
    for (const std::string& layer : model.layers) {
      if (!layers_.contains(layer)) unknown.push_back(layer);
    }
  }
  return unknown;
}

}  // namespace opbench
