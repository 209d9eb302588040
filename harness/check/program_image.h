#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct Elf;

namespace opbench::check {

/// A function or an object of a program.
struct ProgramSymbol {
  std::uint64_t begin = 0, end = 0;  ///< addresses as linked
  std::string_view name;             ///< mangled
  bool is_function = false;
  bool is_weak = false;  ///< inline or of a template: one of many copies, which the linker picks
};

/// A place of a program that the linker or the loader fills in.
struct ProgramRelocation {
  enum Kind {
    pointer,   ///< 8 bytes, the address of `target`
    relative,  ///< 4 bytes, the way from the place to `target`
    thread,    ///< 4 or 8 bytes, where a thread has `name`
    other,
  };
  std::uint64_t at = 0, target = 0;
  Kind kind = other;
  std::string_view name;   ///< of the symbol; empty: none
  bool is_import = false;  ///< a library has it
};

/// The sections, symbols and relocations of an ELF program for x86-64, read from its file.
class ProgramImage {
 public:
  /// Errors: throws Error that says why it cannot be read: no such program, or one without symbols
  /// (stripped) or without relocations (linked without --emit-relocs).
  explicit ProgramImage(const std::string& path);

  /// What contains the address; null: nothing that has a name.
  const ProgramSymbol* symbol_at(std::uint64_t address) const;
  /// A function by its mangled name; null: none.
  const ProgramSymbol* function(std::string_view name) const;
  /// What compiled its objects, a line each, in the order of the alphabet; empty: it does not tell.
  const std::string& compilers() const { return compilers_; }
  /// In order of their places, those in [begin, end).
  std::span<const ProgramRelocation> relocations(std::uint64_t begin, std::uint64_t end) const;
  /// What the file has there, cut off at the end of the section; empty for what begins as zeros.
  std::span<const std::byte> bytes(std::uint64_t address, std::uint64_t size) const;

 private:
  struct Section {
    std::uint64_t begin, end;
    const std::byte* data;
  };
  struct Closer {
    void operator()(Elf* elf) const;
  };

  void read(const std::string& path);
  void read_compilers(std::span<const char> comment);
  void read_symbols(std::size_t section);
  void read_relocations(std::size_t section);

  std::vector<std::byte> file_;
  std::unique_ptr<Elf, Closer> elf_;
  std::vector<Section> sections_;
  std::vector<ProgramSymbol> symbols_;
  std::vector<ProgramRelocation> relocations_;
  std::string compilers_;
  bool has_linked_relocations_ = false;
};

}  // namespace opbench::check
