#include "profiles/table_header.h"

namespace opbench {

TableHeader find_header(TableReader& table) {
  constexpr int kMostBanner = 50;
  for (int i = 0; i < kMostBanner && table.next(); ++i) {
    std::vector<std::string> header;
    for (std::size_t c = 0; c < table.size(); ++c) header.emplace_back(table.cell(c));
    while (!header.empty() && header.back().empty()) header.pop_back();  // a comma at the end
    if (const auto tasks = recognise_table(header)) return {tasks, {}};
    if (const auto times = recognise_time_table(header)) return {{}, times};
  }
  return {};
}

}  // namespace opbench
