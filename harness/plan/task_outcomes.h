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

/// Numbers for descriptions of tensors, so that two ways of storing are compared by number.
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

/// What planning a task comes to.
struct TaskOutcome {
  bool is_possible = true;   ///< some kernel takes it
  PlanCost cost;             ///< of the task and its conversions, but for those in `shareable`
  std::vector<int> stored;   ///< how its inputs are stored then
  std::vector<int> written;  ///< how its outputs are stored
  /// Of a task that may share the conversions of its inputs: what those of each input cost, and to
  /// what they convert (kNone: nothing).
  std::vector<PlanCost> shareable;
  std::vector<int> converted_to;

  bool operator==(const TaskOutcome&) const = default;
};

/// A task whose inputs are stored in one way, and what may still be chosen for it.
struct TaskQuestion {
  int kind = 0;
  std::vector<int> given;     ///< how each input is stored; kNone: nobody has stored it yet
  int cast_input = -1;        ///< not -1: only how a parameter is stored whose cast is this input
  DType dtype = DType::fp32;  ///< of that parameter
  std::vector<std::size_t> choices;  ///< that it depends on
  std::vector<int> outcomes;         ///< of each combination of their words, first choice fastest
};

/// Plans tasks, each question once: tasks of the same operator, attributes, shapes and stored
/// inputs come to the same, wherever in a network they stand.
class TaskOutcomes {
 public:
  /// Both outlive this.
  TaskOutcomes(const std::vector<Choice>& choices, const PlanSetting& written)
      : choices_(choices), written_(written) {}

  /// The number of a kind of task: uses that differ in nothing but their names. `point` chooses the
  /// variant of an operator that may be written as others.
  int kind_of(const NodeUse& use, const Point& point);

  const TaskQuestion& ask(int kind, const std::vector<int>& given) {
    return question(kind, given, -1, DType::fp32);
  }
  /// How a parameter of `dtype` is stored that is cast to an input of a task: `stored[0]` of the
  /// outcomes, kNone where that is left open.
  const TaskQuestion& ask_parameter(int kind, const std::vector<int>& given, int input,
                                    DType dtype) {
    return question(kind, given, input, dtype);
  }
  /// By its number in a question; equal numbers are equal outcomes.
  const TaskOutcome& operator[](int outcome) const { return outcomes_[std::size_t(outcome)]; }

  DescNumbers& descs() { return descs_; }
  const Node& node_of(int kind) const { return kinds_[std::size_t(kind)].node; }
  const Op& op_of(int kind) const { return *node_of(kind).problem.op; }
  /// Of one task of that kind, without its node.
  const NodeUse& use_of(int kind) const { return kinds_[std::size_t(kind)].use; }
  /// How many outcomes were planned so far.
  std::size_t planned() const { return outcomes_.size(); }

 private:
  /// With a node of its own.
  struct Kind {
    Node node;
    NodeUse use;
    std::optional<std::size_t> choice;  // of its operator's variant
    std::size_t word = 0;               // of that choice where it decides on the graph
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
