#include "harness/check/code_fingerprint.h"

#include <Zydis/Zydis.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "tensor/buffer.h"
#include "tensor/error.h"

namespace opbench::check {
namespace {

constexpr std::string_view kLibraries[] = {"std",  "fmt", "nlohmann", "__gnu_cxx",
                                           "dnnl", "tbb", "H5",       "Eigen"};
constexpr std::string_view kWords[] = {"abi",      "bool",     "char",     "char16_t", "char32_t",
                                       "char8_t",  "const",    "cxx11",    "delete",   "double",
                                       "false",    "float",    "int",      "long",     "new",
                                       "noexcept", "nullptr",  "operator", "short",    "signed",
                                       "true",     "unsigned", "void",     "volatile", "wchar_t"};

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_among(std::string_view word, const auto& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

struct Free {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

bool is_of_library(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, Free> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status));
  if (status != 0 || !demangled) return false;
  const std::string_view name = demangled.get();
  bool has_library = false;
  for (std::size_t i = 0; i < name.size();) {
    if (!is_letter(name[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < name.size() && is_letter(name[i])) ++i;
    const std::string_view word = name.substr(begin, i - begin);
    const bool is_member = begin >= 2 && name.substr(begin - 2, 2) == "::";
    if (is_member || std::isdigit(static_cast<unsigned char>(word[0])) != 0) continue;
    if (is_among(word, kLibraries)) {
      has_library = true;
    } else if (!is_among(word, kWords)) {
      return false;
    }
  }
  return has_library;
}

namespace {

/// Four bytes of an instruction that say where something lies.
struct Field {
  std::uint64_t offset = 0;  ///< in the instruction
  std::uint64_t target = 0;
  std::uint64_t bytes = 0;  ///< that are read or written there; 0: the address is taken, or a jump
};

/// Instructions of x86-64 one by one.
class Decoder {
 public:
  Decoder() { ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }

  /// Its length in bytes; 0 for what is no instruction.
  std::size_t next(std::span<const std::byte> code) {
    const auto status =
        ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &instruction_, operands_);
    return ZYAN_SUCCESS(status) ? instruction_.length : 0;
  }

  /// What the last instruction, which lies at `address`, refers to by its distance.
  std::optional<Field> field(std::uint64_t address) const {
    const std::uint64_t end = address + instruction_.length;
    for (const auto& immediate : instruction_.raw.imm) {
      if (immediate.is_relative != ZYAN_FALSE && immediate.size == 32) {
        return Field{immediate.offset, end + static_cast<std::uint64_t>(immediate.value.s), 0};
      }
    }
    for (int i = 0; i < instruction_.operand_count; ++i) {
      const ZydisDecodedOperand& operand = operands_[i];
      if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.base != ZYDIS_REGISTER_RIP) {
        continue;
      }
      const bool is_address = operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN;
      return Field{instruction_.raw.disp.offset,
                   end + static_cast<std::uint64_t>(instruction_.raw.disp.value),
                   is_address ? 0 : operand.size / 8u};
    }
    return std::nullopt;
  }

 private:
  ZydisDecoder decoder_{};
  ZydisDecodedInstruction instruction_{};
  ZydisDecodedOperand operands_[ZYDIS_MAX_OPERAND_COUNT]{};
};

void clear(std::vector<std::byte>& bytes, std::uint64_t offset, std::uint64_t count) {
  for (std::uint64_t i = offset; i < std::min<std::uint64_t>(offset + count, bytes.size()); ++i) {
    bytes[i] = {};
  }
}

constexpr std::uint64_t kLongestText = 4096;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string place_in(const ProgramSymbol& symbol, std::uint64_t address) {
  return fmt::format("{}+{}", symbol.name, address - symbol.begin);
}

// A function and the part of it that hardly ever runs, which has a place of its own.
bool is_same_function(const ProgramSymbol& a, const ProgramSymbol& b) {
  const auto whole = [](std::string_view name) { return name.substr(0, name.find(".cold")); };
  return whole(a.name) == whole(b.name);
}

// Of an inline function the linker keeps one of the copies in the objects, which one depends on
// their order, and objects differ in how far they were optimised. Libraries' and destructors are
// told by their names.
bool is_told_by_name(const ProgramSymbol& symbol) {
  if (!symbol.is_function || !symbol.is_weak) return false;
  const std::string name(symbol.name);
  return name.ends_with("D0Ev") || name.ends_with("D1Ev") || name.ends_with("D2Ev") ||
         is_of_library(name);
}

std::uint64_t hash_of(std::string_view text) { return checksum(text.data(), text.size()); }

}  // namespace

// What lies where an instruction, or a pointer, at `place` leads to.
std::string ProgramCode::reference(Part& part, const ProgramSymbol& from, std::uint64_t place,
                                   std::uint64_t target, std::uint64_t bytes) const {
  for (const ProgramRelocation& relocation : image_.relocations(place, place + 1)) {
    if (relocation.is_import) return fmt::format("import {}", relocation.name);
  }
  const ProgramSymbol* symbol = image_.symbol_at(target);
  if (symbol == nullptr || (bytes == 0 && !symbol->is_function && symbol->begin == target)) {
    // The end of an array, whatever begins there.
    const ProgramSymbol* const before = image_.symbol_at(target - 1);
    if (before != nullptr && part.reached.contains(before)) symbol = before;
  }
  if (symbol != nullptr) {
    if (!is_told_by_name(*symbol)) part.reached.insert(symbol);
    return place_in(*symbol, target);
  }
  return bytes > 0 ? content(part, from, target, bytes) : table_or_text(part, from, target);
}

// Bytes of data, and in the place of pointers what they point to.
std::string ProgramCode::content(Part& part, const ProgramSymbol& from, std::uint64_t address,
                                 std::uint64_t size) const {
  const std::span<const std::byte> there = image_.bytes(address, size);
  std::vector<std::byte> bytes(there.begin(), there.end());
  std::string text;
  std::uint64_t done = address;
  for (const ProgramRelocation& relocation : image_.relocations(address, address + size)) {
    if (relocation.at < done) continue;  // the linker's and the loader's of one place
    if (relocation.kind == ProgramRelocation::other) continue;
    const std::uint64_t offset = relocation.at - address;
    const bool is_pointer = relocation.kind == ProgramRelocation::pointer;
    clear(bytes, offset, is_pointer ? 8 : 4);
    done = relocation.at + (is_pointer ? 8 : 4);
    text += fmt::format("\n{} ", offset);
    text += is_pointer ? reference(part, from, relocation.at, relocation.target, 0)
                       : std::string(relocation.name);
  }
  return fmt::format("{} bytes {}{}", size, text_of(bytes), text);
}

// Of an address without a name: a table of the jumps of a switch, or a text.
std::string ProgramCode::table_or_text(Part& part, const ProgramSymbol& from,
                                       std::uint64_t address) const {
  std::string text = "table";
  for (std::uint64_t at = address;; at += 4) {
    const auto entry = image_.relocations(at, at + 1);
    const std::span<const std::byte> bytes = image_.bytes(at, 4);
    if (entry.empty() || entry[0].kind != ProgramRelocation::relative || bytes.size() < 4) break;
    std::int32_t distance = 0;
    std::memcpy(&distance, bytes.data(), sizeof distance);
    const std::uint64_t label = address + static_cast<std::uint64_t>(std::int64_t{distance});
    const ProgramSymbol* const symbol = image_.symbol_at(label);
    if (symbol == nullptr || !is_same_function(*symbol, from)) break;
    part.reached.insert(symbol);
    text += ' ' + place_in(*symbol, label);
  }
  if (text != "table") return text;
  const std::string_view letters = text_of(image_.bytes(address, kLongestText));
  const auto end = std::find_if(letters.begin(), letters.end(), [](char letter) {
    return (letter < ' ' && letter != '\n' && letter != '\t') || letter == '\x7F';
  });
  // Anything else may be the end of what lies before, and what follows is a matter of layout.
  const bool is_text = end != letters.end() && *end == '\0';
  return is_text ? fmt::format("text {}", std::string_view(letters.begin(), end)) : "data";
}

ProgramCode::Part ProgramCode::read_function(const ProgramSymbol& function) const {
  const std::span<const std::byte> there =
      image_.bytes(function.begin, function.end - function.begin);
  std::vector<std::byte> code(there.begin(), there.end());
  Part part;
  std::string text(function.name);
  Decoder decoder;
  for (std::size_t at = 0; at < there.size();) {
    const std::size_t length = decoder.next(there.subspan(at));
    const std::uint64_t address = function.begin + at;
    const auto add = [&](std::uint64_t offset, const std::string& what) {
      clear(code, at + offset, 4);
      text += fmt::format("\n{} {}", at + offset, what);
    };
    for (const ProgramRelocation& r : image_.relocations(address, address + length)) {
      if (r.kind == ProgramRelocation::thread) add(r.at - address, fmt::format("own {}", r.name));
    }
    if (const auto field = length == 0 ? std::nullopt : decoder.field(address)) {
      const bool is_inside = field->target >= function.begin && field->target < function.end;
      if (!is_inside) {
        add(field->offset,
            reference(part, function, address + field->offset, field->target, field->bytes));
      }
    }
    at += std::max<std::size_t>(length, 1);
  }
  part.hash = hash_of(text += text_of(code));
  return part;
}

const ProgramCode::Part& ProgramCode::part(const ProgramSymbol& symbol) {
  const auto found = parts_.find(&symbol);
  if (found != parts_.end()) return found->second;
  Part part;
  if (symbol.is_function) {
    part = read_function(symbol);
  } else {
    std::string text(symbol.name);
    text += content(part, symbol, symbol.begin, symbol.end - symbol.begin);
    part.hash = hash_of(text);
  }
  return parts_.emplace(&symbol, std::move(part)).first->second;
}

std::string ProgramCode::fingerprint(const std::vector<std::uint64_t>& roots) {
  std::vector<const ProgramSymbol*> todo;
  for (const std::uint64_t root : roots) {
    const ProgramSymbol* const symbol = image_.symbol_at(root);
    if (symbol == nullptr || !symbol->is_function) {
      throw Error(fmt::format("no function is at {:#x} of the program", root));
    }
    todo.push_back(symbol);
  }
  std::set<const ProgramSymbol*> seen(todo.begin(), todo.end());
  std::vector<std::uint64_t> hashes;  // in no order that depends on addresses
  while (!todo.empty()) {
    const Part& next = part(*todo.back());
    todo.pop_back();
    hashes.push_back(next.hash);
    for (const ProgramSymbol* symbol : next.reached) {
      if (seen.insert(symbol).second) todo.push_back(symbol);
    }
  }
  std::sort(hashes.begin(), hashes.end());
  return fmt::format("{:016x}", checksum(hashes.data(), hashes.size() * sizeof hashes[0]));
}

std::uint64_t ProgramCode::address_of(const std::string& name) const {
  const ProgramSymbol* const symbol = image_.function(name);
  if (symbol == nullptr) throw Error(fmt::format("the program has no function {}", name));
  return symbol->begin;
}

}  // namespace opbench::check
