// The table of times of a context's steps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "harness/report/step_table.h"

namespace opbench::report {
namespace {

// Types that tuning removes.
constexpr std::array<std::string_view, 3> kFirst = {"TransData", "Cast", "contiguous"};

struct TypeRow {
  std::string type;
  std::size_t rank = 0;  ///< place among the types that come first
  double most_us = 0;    ///< its greatest time in a step
};

const TypeTime* find_type(const StepDetails& step, const std::string& type) {
  const auto found = std::find_if(step.types.begin(), step.types.end(),
                                  [&](const TypeTime& t) { return t.type == type; });
  return found == step.types.end() ? nullptr : &*found;
}

std::vector<TypeRow> sorted_rows(const ContextSteps& steps) {
  std::vector<TypeRow> rows;
  for (const Record* step : steps) {
    for (const TypeTime& t : step->step->types) {
      const auto known = std::find_if(rows.begin(), rows.end(),
                                      [&](const TypeRow& row) { return row.type == t.type; });
      if (known != rows.end()) {
        known->most_us = std::max(known->most_us, t.total_us);
        continue;
      }
      const auto rank = static_cast<std::size_t>(std::find(kFirst.begin(), kFirst.end(), t.type) -
                                                 kFirst.begin());
      rows.push_back({t.type, rank, t.total_us});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const TypeRow& a, const TypeRow& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.rank < kFirst.size()) return false;
    return a.most_us > b.most_us;
  });
  return rows;
}

double total_us(const StepDetails& step) {
  double sum = 0;
  for (const TypeTime& t : step.types) sum += t.total_us;
  return sum;
}

/// The unit and digits of times: the longest has about four digits.
struct Scale {
  std::string_view unit = "us";
  double us = 1;
  int digits = 1;

  std::string cell(double time_us, double share) const {
    return fmt::format("{:.{}f} {:>3.0f} %", time_us / us, digits, 100 * share);
  }
};

Scale scale_of(const ContextSteps& steps) {
  double most = 0;
  for (const Record* step : steps) most = std::max(most, total_us(*step->step));
  if (most < 1e3) return {};
  if (most < 1e4) return {"ms", 1e3, 3};
  if (most < 1e6) return {"ms", 1e3, 2};
  return {"s", 1e6, 3};
}

// True for convolutions, batch norm, pools and products: changing the operators around them does
// not change these.
bool is_layer(std::string_view type) {
  return type.find("Conv2D") != std::string_view::npos || type.starts_with("BN") ||
         type.find("Pool") != std::string_view::npos || type.starts_with("MatMul");
}

// The sum of the times of selected types, in every step.
std::vector<std::string> summed(std::string name, const ContextSteps& steps, const Scale& scale,
                                const std::function<bool(const std::string& type)>& counts) {
  std::vector<std::string> cells = {std::move(name)};
  for (const Record* step : steps) {
    double us = 0, share = 0;
    for (const TypeTime& type : step->step->types) {
      if (!counts(type.type)) continue;
      us += type.total_us;
      share += type.share;
    }
    cells.push_back(scale.cell(us, share));
  }
  return cells;
}

}  // namespace

TimeTable time_table(const ContextSteps& all, std::size_t most_types) {
  TimeTable result;
  ContextSteps steps;
  result.table.columns.push_back({"", false});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->step->types.empty()) continue;
    steps.push_back(all[i]);
    result.table.columns.push_back({fmt::format("{}", i + 1), true});
  }
  if (steps.empty()) return {};
  const Scale scale = scale_of(steps);
  result.unit = scale.unit;
  const std::vector<TypeRow> rows = sorted_rows(steps);
  // A single hidden row would need as much room as the row "others".
  const std::size_t shown = rows.size() <= most_types + 1 ? rows.size() : most_types;
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string>& cells = result.table.rows.emplace_back();
    cells.push_back(rows[i].type);
    for (const Record* step : steps) {
      const TypeTime* type = find_type(*step->step, rows[i].type);
      cells.push_back(type == nullptr ? "-" : scale.cell(type->total_us, type->share));
    }
  }
  const auto sum = [&](std::string name, const auto& counts) {
    result.table.rows.push_back(summed(std::move(name), steps, scale, counts));
  };
  if (shown < rows.size()) {
    sum(fmt::format("{} others", rows.size() - shown), [&](const std::string& type) {
      return std::none_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown),
                          [&](const TypeRow& row) { return row.type == type; });
    });
  }
  const auto layers = std::count_if(rows.begin(), rows.end(),
                                    [](const TypeRow& row) { return is_layer(row.type); });
  if (layers > 0 && layers < std::ssize(rows)) {
    sum("no conv, BN, pool, MatMul", [](const std::string& type) { return !is_layer(type); });
  }
  std::vector<std::string>& all_tasks = result.table.rows.emplace_back();
  all_tasks.emplace_back("all tasks");
  for (const Record* step : steps) all_tasks.push_back(scale.cell(total_us(*step->step), 1));
  return result;
}

}  // namespace opbench::report
