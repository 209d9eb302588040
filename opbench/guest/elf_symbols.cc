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

bool is_exported(const Elf64_Sym& symbol) {
  const int binding = ELF64_ST_BIND(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK) &&
         ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
}

}  // namespace

std::vector<std::string> exported_symbols(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const auto header = read_at<Elf64_Ehdr>(in, 0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_shentsize != sizeof(Elf64_Shdr))
    return {};
  const auto sections = read_at<Elf64_Shdr>(in, header[0].e_shoff, header[0].e_shnum);
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& texts = sections[section.sh_link];
    auto text = read_at<char>(in, texts.sh_offset, texts.sh_size);
    text.push_back('\0');
    const std::uint64_t count = section.sh_size / sizeof(Elf64_Sym);
    for (const Elf64_Sym& symbol : read_at<Elf64_Sym>(in, section.sh_offset, count)) {
      if (is_exported(symbol) && symbol.st_name < text.size())
        names.emplace_back(text.data() + symbol.st_name);
    }
  }
  return names;
}

}  // namespace opbench::guest
