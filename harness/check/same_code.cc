#include "harness/check/same_code.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "text/input_file.h"

namespace opbench::check {
namespace {

namespace fs = std::filesystem;

// True for a program that loads libraries from its own folder.
bool finds_libraries_by_its_place() {
  const ElfW(Addr) program = _r_debug.r_map->l_addr;
  const char* texts = nullptr;
  for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_STRTAB) continue;
    // The loader replaces the offset by an address, but not on every machine.
    const ElfW(Addr) place = entry->d_un.d_ptr;
    texts = reinterpret_cast<const char*>(place < program ? program + place : place);
  }
  for (const ElfW(Dyn)* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
    const bool is_path = entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH;
    if (!is_path || texts == nullptr) continue;
    const std::string_view path = texts + entry->d_un.d_val;
    if (path.find("ORIGIN") != path.npos) return true;
  }
  return false;
}

}  // namespace

bool is_same_program(const WorkerProgram& base, const WorkerProgram& current) {
  if (base.connect || current.connect || base.directory != current.directory) return false;
  if (!base.kernels.empty() || !current.kernels.empty()) return false;
  std::error_code none;
  if (fs::equivalent(base.path, current.path, none)) return true;
  return !finds_libraries_by_its_place() && has_same_bytes(base.path, current.path);
}

namespace {

// Identical code can only give other results for other inputs, whose calls may also take longer.
bool has_same_bits(const CheckedItem& item) {
  return !item.base_bits.empty() && item.base_bits == item.current_bits;
}

// Reason why the code of a build is unknown; empty: both are known.
std::string unknown_text(const CodeReply& base, const CodeReply& current) {
  for (const auto& [build, reply] :
       {std::pair("the baseline", &base), {"the current build", &current}}) {
    if (reply->fingerprint.empty()) {
      return fmt::format("{} cannot report it ({})", build, reply->reason);
    }
  }
  return {};
}

}  // namespace

void settle_same_code(ComparedCase& compared, WorkerClient& base, WorkerClient& current) {
  for (ComparedVariant* variant : compared.open_variants()) {
    CheckedItem& item = variant->item;
    if (item.base_bits.empty() || item.current_bits.empty()) {
      variant->code_unknown = "without verification it is unknown if both have the same inputs";
      continue;
    }
    if (!has_same_bits(item)) continue;
    const CodeReply before = base.code(item.variant), now = current.code(item.variant);
    variant->code_unknown = unknown_text(before, now);
    if (!variant->code_unknown.empty() || before.fingerprint != now.fingerprint) continue;
    // A sample of one call gives its weight in the network, and checks that its results are still
    // those of the verification.
    const Sampled sampled = current.sample(item.variant);
    if (!results_error(sampled, variant->current_results).empty()) continue;
    variant->is_open = false;
    item.same_code_us = sampled.us;
    item.is_same_code = true;
    item.verdict = ChangeVerdict::same;
    item.evidence = "both builds run the same machine code here; it was not timed";
  }
}

void note_unknown_code(const ComparedVariant& variant, CheckedItem& item) {
  const bool looks_slower = item.verdict == ChangeVerdict::slower ||
                            (item.verdict == ChangeVerdict::ambiguous && item.is_unfinished);
  if (!looks_slower || variant.code_unknown.empty()) return;
  item.notices.push_back(
      fmt::format("it is unknown if its machine code changed: {}", variant.code_unknown));
}

void note_same_code(const std::vector<CheckedItem>& items, std::vector<std::string>& notices) {
  const auto count = std::count_if(items.begin(), items.end(),
                                   [](const CheckedItem& item) { return item.is_same_code; });
  if (count == 0) return;
  notices.push_back(
      fmt::format("{} of {} run the same machine code in both builds with the same results; they "
                  "were not timed",
                  count, items.size()));
}

}  // namespace opbench::check
