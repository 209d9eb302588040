#include "opbench/guest/elf_symbols.h"

#include <elf.h>

#include <cstring>
#include <fstream>

namespace opbench::guest {
namespace {

/// Reads `count` objects at a place of the file. Returns fewer if the file ends before.
template <class T>
std::vector<T> read_at(std::ifstream& file, std::uint64_t place, std::uint64_t count) {
  file.clear();
  file.seekg(0, std::ios::end);
  const auto size = std::uint64_t(file.tellg());
  if (place > size || count > (size - place) / sizeof(T)) return {};
  std::vector<T> read(count);
  file.seekg(std::streamoff(place));
  file.read(reinterpret_cast<char*>(read.data()), std::streamsize(count * sizeof(T)));
  return read;
}

template <class T>
std::vector<T> entries(std::ifstream& file, const Elf64_Shdr& section) {
  return read_at<T>(file, section.sh_offset, section.sh_size / sizeof(T));
}

bool is_exported(const Elf64_Sym& symbol) {
  const int binding = ELF64_ST_BIND(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK) &&
         ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
}

}  // namespace

ElfNames read_elf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const auto header = read_at<Elf64_Ehdr>(in, 0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_shentsize != sizeof(Elf64_Shdr))
    return {};
  const auto sections = read_at<Elf64_Shdr>(in, header[0].e_shoff, header[0].e_shnum);
  ElfNames names;
  for (const Elf64_Shdr& section : sections) {
    const bool has_names = section.sh_type == SHT_DYNSYM || section.sh_type == SHT_DYNAMIC;
    if (!has_names || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& texts = sections[section.sh_link];
    auto text = read_at<char>(in, texts.sh_offset, texts.sh_size);
    text.push_back('\0');
    const auto add = [&](std::vector<std::string>& list, std::uint64_t place) {
      if (place < text.size()) list.emplace_back(text.data() + place);
    };
    if (section.sh_type == SHT_DYNSYM) {
      for (const auto& symbol : entries<Elf64_Sym>(in, section))
        if (is_exported(symbol)) add(names.exported, symbol.st_name);
    } else {
      for (const auto& entry : entries<Elf64_Dyn>(in, section))
        if (entry.d_tag == DT_NEEDED) add(names.needed, entry.d_un.d_val);
    }
  }
  return names;
}

}  // namespace opbench::guest
