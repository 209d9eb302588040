#include "profiles/ingest_order.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "profiles/host_log.h"
#include "profiles/trace_profile.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Files that others depend on come first: MindSpore's list of operators, then tables, then traces.
int reading_order(const std::string& path) {
  try {
    ByteWindow window(open_bytes(path));
    const std::string_view begin = beginning(window);
    if (recognise_trace(begin) == TraceKind::trace) return 2;
    return begin.substr(0, begin.find('\n')).find("op_info") == begin.npos ? 1 : 0;
  } catch (const Error&) {
    return 1;  // reading the file reports the error
  }
}

bool is_log_file(const std::string& path) {
  try {
    ByteWindow window(open_bytes(path));
    return is_host_log(beginning(window));
  } catch (const Error&) {
    return true;  // reading the file reports the error
  }
}

// A folder stands for the host logs in it, as for the script of the guides. A folder without any
// stays: reading it reports the reason.
std::vector<std::string> with_logs_of_folders(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::vector<std::string> logs;
    std::error_code error;
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
         at.increment(error)) {
      const std::string file = at->path().string();
      if (is_host_log_name(file) && is_log_file(file)) logs.push_back(file);
    }
    if (logs.empty()) logs.push_back(path);
    std::sort(logs.begin(), logs.end());
    files.insert(files.end(), logs.begin(), logs.end());
  }
  return files;
}

}  // namespace

std::string_view beginning(ByteWindow& window) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  while (window.text().size() < kBytes && window.more()) {
  }
  const auto text = window.text();
  return {text.data(), text.size()};
}

ReadingOrder in_reading_order(const std::vector<std::string>& paths) {
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& path : with_logs_of_folders(paths)) ranked.emplace_back(1, path);
  if (ranked.size() > 1) {
    for (auto& [rank, path] : ranked) rank = reading_order(path);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  ReadingOrder order;
  order.has_both = !ranked.empty() && ranked.front().first < 2 && ranked.back().first == 2;
  for (auto& [rank, path] : ranked) order.files.push_back(std::move(path));
  return order;
}

}  // namespace opbench
