#include "harness/check/program_image.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "tensor/error.h"

namespace opbench::check {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* why) {
  throw Error(fmt::format("{}: {}", path, why));
}

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(path, "cannot be read");
  std::vector<std::byte> bytes;
  in.seekg(0, std::ios::end);
  const std::streamoff size = in.tellg();
  in.seekg(0);
  if (size > 0) bytes.resize(static_cast<std::size_t>(size));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) refuse(path, "cannot be read");
  return bytes;
}

GElf_Shdr header_of(Elf_Scn* section) {
  GElf_Shdr header{};
  gelf_getshdr(section, &header);
  return header;
}

// Names of x86-64's psABI.
ProgramRelocation::Kind kind_of(std::uint64_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_RELATIVE:
      return ProgramRelocation::pointer;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      return ProgramRelocation::relative;
    case R_X86_64_TPOFF32:
    case R_X86_64_TPOFF64:
    case R_X86_64_GOTTPOFF:
    case R_X86_64_TLSGD:
    case R_X86_64_TLSLD:
    case R_X86_64_DTPOFF32:
      return ProgramRelocation::thread;
    default:
      return ProgramRelocation::other;
  }
}

}  // namespace

void ProgramImage::Closer::operator()(Elf* elf) const { elf_end(elf); }

ProgramImage::ProgramImage(const std::string& path) : file_(read_file(path)) {
  elf_version(EV_CURRENT);
  elf_.reset(elf_memory(reinterpret_cast<char*>(file_.data()), file_.size()));
  GElf_Ehdr header{};
  if (!elf_ || gelf_getehdr(elf_.get(), &header) == nullptr) refuse(path, "is no ELF file");
  if (header.e_machine != EM_X86_64) refuse(path, "only code of x86-64 is understood");
  read(path);
}

void ProgramImage::read(const std::string& path) {
  std::vector<std::size_t> relocations;
  std::size_t names = 0;
  elf_getshdrstrndx(elf_.get(), &names);
  for (Elf_Scn* s = elf_nextscn(elf_.get(), nullptr); s != nullptr;
       s = elf_nextscn(elf_.get(), s)) {
    const GElf_Shdr header = header_of(s);
    const Elf_Data* data = elf_rawdata(s, nullptr);
    if ((header.sh_flags & SHF_ALLOC) != 0 && (header.sh_flags & SHF_TLS) == 0) {
      const bool is_there = header.sh_type != SHT_NOBITS && data != nullptr;
      sections_.push_back({header.sh_addr, header.sh_addr + header.sh_size,
                           is_there ? static_cast<const std::byte*>(data->d_buf) : nullptr});
    }
    const char* const name = elf_strptr(elf_.get(), names, header.sh_name);
    if (name != nullptr && std::string_view(name) == ".comment" && data != nullptr &&
        data->d_buf != nullptr) {
      read_compilers({static_cast<const char*>(data->d_buf), data->d_size});
    }
    if (header.sh_type == SHT_SYMTAB) read_symbols(elf_ndxscn(s));
    if (header.sh_type == SHT_RELA) relocations.push_back(elf_ndxscn(s));
  }
  if (symbols_.empty()) refuse(path, "was stripped of its symbols");
  for (const std::size_t section : relocations) read_relocations(section);
  if (!has_linked_relocations_) refuse(path, "was linked without --emit-relocs");
  std::sort(sections_.begin(), sections_.end(),
            [](const Section& a, const Section& b) { return a.begin < b.begin; });
  std::stable_sort(relocations_.begin(), relocations_.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
}

// Strings with a zero behind each, every one once, in the order of linking.
void ProgramImage::read_compilers(std::span<const char> comment) {
  std::set<std::string> lines;
  for (auto at = comment.begin(); at != comment.end();) {
    const auto end = std::find(at, comment.end(), '\0');
    if (end != at) lines.emplace(at, end);
    at = end == comment.end() ? end : end + 1;
  }
  compilers_ = fmt::format("{}", fmt::join(lines, "\n"));
}

// Of several names of one place the first in the alphabet, whatever order they were linked in.
void ProgramImage::read_symbols(std::size_t index) {
  Elf_Scn* const section = elf_getscn(elf_.get(), index);
  const GElf_Shdr header = header_of(section);
  Elf_Data* const data = elf_getdata(section, nullptr);
  GElf_Sym symbol{};
  for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    const bool is_known = is_function || type == STT_OBJECT;
    if (!is_known || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) continue;
    const char* name = elf_strptr(elf_.get(), header.sh_link, symbol.st_name);
    symbols_.push_back({symbol.st_value, symbol.st_value + symbol.st_size,
                        name == nullptr ? "" : name, is_function,
                        GELF_ST_BIND(symbol.st_info) == STB_WEAK});
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, b.end, a.name) < std::tie(b.begin, a.end, b.name);
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const auto& a, const auto& b) { return a.begin == b.begin; }),
                 symbols_.end());
}

void ProgramImage::read_relocations(std::size_t index) {
  Elf_Scn* const section = elf_getscn(elf_.get(), index);
  const GElf_Shdr header = header_of(section);
  // Those of the loader need not tell which section they fill.
  const bool is_loaders = (header.sh_flags & SHF_ALLOC) != 0;
  if (!is_loaders) {
    Elf_Scn* const filled = elf_getscn(elf_.get(), header.sh_info);
    if (filled == nullptr || (header_of(filled).sh_flags & SHF_ALLOC) == 0) return;
    has_linked_relocations_ = true;
  }
  Elf_Scn* const table = elf_getscn(elf_.get(), header.sh_link);
  if (table == nullptr) return;
  const GElf_Shdr table_header = header_of(table);
  Elf_Data *const data = elf_getdata(section, nullptr), *const names = elf_getdata(table, nullptr);
  GElf_Rela rela{};
  for (int i = 0; data != nullptr && gelf_getrela(data, i, &rela) != nullptr; ++i) {
    GElf_Sym symbol{};
    const auto number = static_cast<int>(GELF_R_SYM(rela.r_info));
    if (number != 0 && gelf_getsym(names, number, &symbol) == nullptr) continue;
    const char* name =
        number == 0 ? nullptr : elf_strptr(elf_.get(), table_header.sh_link, symbol.st_name);
    relocations_.push_back({rela.r_offset,
                            symbol.st_value + static_cast<std::uint64_t>(rela.r_addend),
                            kind_of(GELF_R_TYPE(rela.r_info)), name == nullptr ? "" : name,
                            number != 0 && symbol.st_shndx == SHN_UNDEF});
  }
}

const ProgramSymbol* ProgramImage::symbol_at(std::uint64_t address) const {
  auto found = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](std::uint64_t a, const auto& s) { return a < s.begin; });
  if (found == symbols_.begin()) return nullptr;
  --found;
  return address < found->end ? &*found : nullptr;
}

const ProgramSymbol* ProgramImage::function(std::string_view name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(),
                                  [&](const auto& s) { return s.is_function && s.name == name; });
  return found == symbols_.end() ? nullptr : &*found;
}

std::span<const ProgramRelocation> ProgramImage::relocations(std::uint64_t begin,
                                                             std::uint64_t end) const {
  const auto before = [](const auto& relocation, std::uint64_t at) { return relocation.at < at; };
  const auto first = std::lower_bound(relocations_.begin(), relocations_.end(), begin, before);
  return {first, std::lower_bound(first, relocations_.end(), end, before)};
}

std::span<const std::byte> ProgramImage::bytes(std::uint64_t address, std::uint64_t size) const {
  auto found = std::upper_bound(sections_.begin(), sections_.end(), address,
                                [](std::uint64_t a, const auto& s) { return a < s.begin; });
  if (found == sections_.begin()) return {};
  --found;
  if (address >= found->end || found->data == nullptr) return {};
  return {found->data + (address - found->begin), std::min(size, found->end - address)};
}

}  // namespace opbench::check
