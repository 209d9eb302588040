#include "compare/judge_draws.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/plan/recorded_entries.h"
#include "judge/draws.h"
#include "judge/stored_values.h"

namespace opbench {
namespace {

// Empty if the attribute is not recorded as one number.
std::optional<double> number_called(DumpSource& file, const DumpRecord& record,
                                    std::string_view name) {
  const DumpEntry* const entry = entry_called(record, Side::input, name);
  if (entry == nullptr || !entry->problem.empty() || entry->desc.elements() != 1)
    return std::nullopt;
  return recorded_numbers(file, *entry).at(0);
}

constexpr std::int64_t kMostElementsRead = std::int64_t{1} << 22;  // of a tensor

// True if a distribution can have these numbers.
bool is_possible(Drawn drawn, const std::vector<double>& numbers) {
  if (drawn == Drawn::uniform) return numbers[0] < numbers[1];
  if (drawn == Drawn::normal) return numbers[1] > 0;
  return numbers[0] > 0 && numbers[0] < 1;
}

const DumpEntry* first_tensor(const DumpRecord& record, Side side) {
  const auto found =
      std::find_if(record.entries.begin(), record.entries.end(), [side](const DumpEntry& entry) {
        return entry.side == side && entry.kind == EntryKind::tensor && entry.problem.empty() &&
               is_floating(entry.desc.dtype);
      });
  return found == record.entries.end() ? nullptr : &*found;
}

}  // namespace

std::optional<OutputFinding> judge_draws(const RecordFiles& files, const DumpRecord& record,
                                         Drawn drawn) {
  std::vector<double> numbers;
  for (const std::string_view name : numbers_of(drawn)) {
    const auto number = number_called(files.inputs, record, name);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  const auto read = [](DumpSource& file, const DumpEntry& entry) {
    return recorded_numbers(file, entry, std::min(kMostElementsRead, entry.desc.elements()));
  };
  const DumpEntry* const output = first_tensor(record, Side::output);
  if (numbers.empty() || output == nullptr || !is_possible(drawn, numbers)) return std::nullopt;
  std::vector<double> inputs;
  if (drawn == Drawn::dropout) {
    const DumpEntry* const input = first_tensor(record, Side::input);
    const bool is_alike = input != nullptr && input->desc.shape == output->desc.shape;
    const auto trains = [&](std::string_view name) {
      return number_called(files.inputs, record, name).value_or(1) != 0;
    };
    if (!is_alike || !trains("train") || !trains("training")) return std::nullopt;
    inputs = read(files.inputs, *input);
  }
  const std::vector<double> values = read(files.outputs, *output);
  OutputFinding finding;
  finding.reason =
      wrong_draws({drawn, numbers[0], numbers.back(), output->desc.dtype, values, inputs});
  if (finding.reason.empty()) return std::nullopt;
  finding.path = output->path;
  finding.op = "distribution";
  finding.is_wrong = true;
  finding.elements = std::ssize(values);
  return finding;
}

}  // namespace opbench
