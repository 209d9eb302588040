#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/plan/choices.h"
#include "harness/plan/node_plan.h"
#include "harness/plan/plan_tasks.h"

namespace opbench {

/// Numbers of tensor descriptions, so that storages are compared by number.
class DescNumbers {
 public:
  static constexpr int kNone = -1;

  int of(const TensorDesc& desc);
  const TensorDesc& operator[](int number) const { return *descs_[std::size_t(number)]; }

 private:
  struct Hash {
    std::size_t operator()(const TensorDesc& desc) const;
  };
  std::unordered_map<TensorDesc, int, Hash> numbers_;
  std::vector<const TensorDesc*> descs_;
};

/// Outcome of planning a task.
struct TaskOutcome {
  bool is_possible = true;   ///< some kernel takes it
  PlanCost cost;             ///< of the task and its conversions, without those in `shareable`
  std::vector<int> stored;   ///< storage of its inputs
  std::vector<int> written;  ///< storage of its outputs
  /// For a task that may share the conversions of its inputs: their cost for each input, and their
  /// target storage (kNone: no conversion).
  std::vector<PlanCost> shareable;
  std::vector<int> converted_to;

  bool operator==(const TaskOutcome&) const = default;
};

/// A task with a given storage of its inputs, and the choices that are open for it.
struct TaskQuestion {
  int kind = 0;
  std::vector<int> given;  ///< storage of each input; kNone: not stored yet
  /// Not -1: the question is the storage of a parameter whose cast is this input.
  int cast_input = -1;
  DType dtype = DType::fp32;         ///< of that parameter
  std::vector<std::size_t> choices;  ///< choices that it depends on
  std::vector<int> outcomes;         ///< by combination of their words; the first varies fastest
};

/// Plans tasks and caches the outcomes. Tasks with equal operator, attributes, shapes and stored
/// inputs have equal outcomes everywhere in a network.
class TaskOutcomes {
 public:
  /// Both arguments must outlive this object.
  TaskOutcomes(const std::vector<Choice>& choices, const PlanSetting& written)
      : choices_(choices), written_(written) {}

  /// Number of a kind of task. Uses of one kind differ only in their names. `point` chooses the
  /// variant of a composite operator.
  int kind_of(const NodeUse& use, const Point& point);

  const TaskQuestion& ask(int kind, const std::vector<int>& given) {
    return question(kind, given, -1, DType::fp32);
  }
  /// Storage of a parameter of `dtype` that is cast to an input of a task: `stored[0]` of the
  /// outcomes, kNone if it is open.
  const TaskQuestion& ask_parameter(int kind, const std::vector<int>& given, int input,
                                    DType dtype) {
    return question(kind, given, input, dtype);
  }
  /// The outcome of that number. Equal numbers are equal outcomes.
  const TaskOutcome& operator[](int outcome) const { return outcomes_[std::size_t(outcome)]; }

  DescNumbers& descs() { return descs_; }
  const Node& node_of(int kind) const { return kinds_[std::size_t(kind)].node; }
  const Op& op_of(int kind) const { return *node_of(kind).problem.op; }
  /// A use of that kind, without its node.
  const NodeUse& use_of(int kind) const { return kinds_[std::size_t(kind)].use; }
  /// Number of outcomes planned so far.
  std::size_t planned() const { return outcomes_.size(); }

 private:
  /// Owns its node.
  struct Kind {
    Node node;
    NodeUse use;
    std::optional<std::size_t> choice;  // of its operator's variant
    std::size_t word = 0;               // of that choice if it decides on the graph
  };

  const TaskQuestion& question(int kind, const std::vector<int>& given, int input, DType dtype);
  std::vector<std::size_t> choices_for(const TaskQuestion& question) const;
  PlanSetting setting_for(const TaskQuestion& question, std::size_t combination) const;
  void answer(TaskQuestion& question);
  void leave_out(TaskQuestion& question, std::size_t choice) const;
  int number_of(TaskOutcome outcome, const TaskQuestion& question);
  TaskOutcome plan(const TaskQuestion& question, std::size_t combination);
  TaskOutcome outcome_of(const NodePlan& plan, const Node& node);

  const std::vector<Choice>& choices_;
  const PlanSetting& written_;
  DescNumbers descs_;
  std::vector<Kind> kinds_;
  std::map<std::string, int> kind_numbers_;
  struct Hash {
    std::size_t operator()(const std::vector<int>& key) const;
  };
  std::unordered_map<std::vector<int>, TaskQuestion, Hash> questions_;
  std::vector<int> key_;
  std::vector<TaskOutcome> outcomes_;
};

}  // namespace opbench
