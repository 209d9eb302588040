#include "text/own_result.h"

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace opbench {
namespace {

namespace fs = std::filesystem;

/// How a text of opbench begins, and what else stands in its first bytes.
struct Beginning {
  std::string_view first, also;
};

constexpr std::size_t kHead = 64 << 10;  // the first rows of a table of contexts are long

constexpr std::array kBeginnings = {
    Beginning{"{", "\"opbench"},  // JSON of every command; Google Benchmark's; Chrome traces
    Beginning{"<", "\"opbench"},  // pages, JUnit
    Beginning{"[\n{\"file\":", "\"operator\":"},    // JSON of show
    Beginning{"{\n  \"rows\": [", "\"variant\":"},  // of invariance
    Beginning{"digraph opbench {", ""},
    Beginning{"# opbench results\n", ""},
    Beginning{"### :", "opbench: "},                       // Markdown of check
    Beginning{"### opbench: ", ""},                        // of its history
    Beginning{"case,name,op,variant,", ""},                // CSV of run
    Beginning{"Device_id,Model Name,", ",HOST_CPU,"},      // its op_summary, op_statistic
    Beginning{"execution,operator,seq,side,tensor,", ""},  // CSV of compare
    Beginning{"Detection Type: ", "Expert Advice: "},      // its advisor_summary.txt
    Beginning{"step,rank,verdict,", ""},                   // of its folders
    Beginning{"file,op,seq,verdict,", ""},                 // of judge
    Beginning{"type,core,count,total_us,", ""},            // of ingest
};

}  // namespace

bool is_own_result(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0) return true;
  std::string head(kHead, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  for (const Beginning& known : kBeginnings) {
    if (head.starts_with(known.first) && head.find(known.also) != head.npos) return true;
  }
  return false;
}

}  // namespace opbench
