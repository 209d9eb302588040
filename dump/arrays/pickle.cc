#include "dump/arrays/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "dump/arrays/pickle_bytes.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

constexpr int kMark = -1;  // marks a position on the stack

class Machine {
 public:
  Machine(PickleBytes& bytes, const std::function<bool(std::string_view)>& is_allowed)
      : bytes_(bytes), is_allowed_(is_allowed) {}

  Pickle run() {
    while (step()) {
    }
    pickle_.root = pop();
    pickle_.end = bytes_.place();
    return std::move(pickle_);
  }

 private:
  // Returns false after the last operation.
  bool step() {
    const auto code = static_cast<unsigned char>(bytes_.next(1)[0]);
    switch (code) {
      case '.':
        return false;
      case 0x80:  // PROTO
        bytes_.next(1);
        return true;
      case 0x95:  // FRAME
        bytes_.next(8);
        return true;
      case '(':
        stack_.push_back(kMark);
        return true;
      case '0':
        pop_any();
        return true;
      default:
        if (!push_constant(code) && !push_text(code) && !change_container(code) &&
            !use_memo(code) && !use_object(code)) {
          bytes_.fail(fmt::format("operation {:#04x} is not one that tensors need", code));
        }
        return true;
    }
  }

  bool push_constant(unsigned char code) {
    switch (code) {
      case 'N':
        push({});
        return true;
      case 0x88:
      case 0x89:
        push_integer(code == 0x88, PickleKind::boolean);
        return true;
      case 'J':
        push_integer(bytes_.number<std::int32_t>());
        return true;
      case 'K':
        push_integer(bytes_.number<std::uint8_t>());
        return true;
      case 'M':
        push_integer(bytes_.number<std::uint16_t>());
        return true;
      case 0x8a:
        push_long(bytes_.next(bytes_.number<std::uint8_t>()));
        return true;
      case 'G':
        push({.kind = PickleKind::real, .real = big_endian_real(), .text = {}, .items = {}});
        return true;
      default:
        return false;
    }
  }

  bool push_text(unsigned char code) {
    switch (code) {
      case 'U':   // SHORT_BINSTRING
      case 'C':   // SHORT_BINBYTES
      case 0x8c:  // SHORT_BINUNICODE
        push_text_of(bytes_.number<std::uint8_t>());
        return true;
      case 'T':  // BINSTRING
      case 'B':  // BINBYTES
      case 'X':  // BINUNICODE
        push_text_of(bytes_.number<std::uint32_t>());
        return true;
      case 0x8d:  // BINUNICODE8
      case 0x8e:  // BINBYTES8
        push_text_of(bytes_.number<std::uint64_t>());
        return true;
      default:
        return false;
    }
  }

  bool change_container(unsigned char code) {
    switch (code) {
      case ')':
      case 't':
        push_items(PickleKind::tuple, code == ')' ? std::vector<int>() : pop_to_mark());
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        push_items(PickleKind::tuple, pop_several(code - 0x84));
        return true;
      case ']':
      case 'l':
        push_items(PickleKind::list, code == ']' ? std::vector<int>() : pop_to_mark());
        return true;
      case '}':
      case 'd':
        push_items(PickleKind::dict, code == '}' ? std::vector<int>() : pop_to_mark());
        return true;
      case 'a':
        extend(pop_several(1), PickleKind::list);
        return true;
      case 'e':
        extend(pop_to_mark(), PickleKind::list);
        return true;
      case 's':
        extend(pop_several(2), PickleKind::dict);
        return true;
      case 'u':
        extend(pop_to_mark(), PickleKind::dict);
        return true;
      default:
        return false;
    }
  }

  bool use_memo(unsigned char code) {
    switch (code) {
      case 'q':
        memo_[bytes_.number<std::uint8_t>()] = top();
        return true;
      case 'r':
        memo_[bytes_.number<std::uint32_t>()] = top();
        return true;
      case 0x94: {
        const auto next = static_cast<std::uint32_t>(memo_.size());
        memo_[next] = top();
        return true;
      }
      case 'h':
        push_memo(bytes_.number<std::uint8_t>());
        return true;
      case 'j':
        push_memo(bytes_.number<std::uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool use_object(unsigned char code) {
    switch (code) {
      case 'c': {
        const std::string module = bytes_.line();
        push_global(module + "." + bytes_.line());
        return true;
      }
      case 0x93: {
        const std::vector<int> names = pop_several(2);
        push_global(text_of(names[0]) + "." + text_of(names[1]));
        return true;
      }
      case 'R': {
        std::vector<int> call = pop_several(2);
        if (value(call[0]).kind != PickleKind::global || value(call[1]).kind != PickleKind::tuple) {
          bytes_.fail("a call of an object that is not a function");
        }
        push_items(PickleKind::call, std::move(call));
        return true;
      }
      case 'Q':
        push_items(PickleKind::persistent, pop_several(1));
        return true;
      case 'b':
        pop();
        top();
        return true;
      default:
        return false;
    }
  }

  void push(PickleValue&& pushed) {
    stack_.push_back(static_cast<int>(pickle_.values.size()));
    pickle_.values.push_back(std::move(pushed));
  }

  void push_integer(std::int64_t number, PickleKind kind = PickleKind::integer) {
    push({.kind = kind, .integer = number, .text = {}, .items = {}});
  }

  // Little-endian, two's complement. Integers of more than 8 bytes are kept as bytes.
  void push_long(const std::string& bytes) {
    constexpr std::size_t kBytes = sizeof(std::int64_t);
    if (bytes.size() > kBytes) {
      return push({.kind = PickleKind::integer, .text = bytes, .items = {}});
    }
    const bool is_negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
    std::int64_t number = is_negative ? -1 : 0;
    std::memcpy(&number, bytes.data(), bytes.size());
    push_integer(number);
  }

  double big_endian_real() {
    return std::bit_cast<double>(__builtin_bswap64(bytes_.number<std::uint64_t>()));
  }

  void push_text_of(std::uint64_t length) {
    push({.kind = PickleKind::text, .text = bytes_.next(length), .items = {}});
  }

  void push_items(PickleKind kind, std::vector<int>&& items) {
    if (kind == PickleKind::dict && items.size() % 2 != 0) bytes_.fail("a key without a value");
    push({.kind = kind, .text = {}, .items = std::move(items)});
  }

  void push_global(const std::string& name) {
    if (!is_allowed_(name)) {
      constexpr std::size_t kLongest = 200;
      bytes_.fail(fmt::format("'{}' is not one of the names that tensors need; no code is run",
                              printable(excerpt(name, kLongest))));
    }
    push({.kind = PickleKind::global, .text = name, .items = {}});
  }

  void push_memo(std::uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) bytes_.fail(fmt::format("unknown value number {}", index));
    stack_.push_back(found->second);
  }

  int pop_any() {
    if (stack_.empty()) bytes_.fail("the stack is empty");
    const int popped = stack_.back();
    stack_.pop_back();
    return popped;
  }

  int pop() {
    const int popped = pop_any();
    if (popped == kMark) bytes_.fail("a mark where a value is needed");
    return popped;
  }

  int top() {
    const int popped = pop();
    stack_.push_back(popped);
    return popped;
  }

  std::vector<int> pop_several(int count) {
    std::vector<int> items(static_cast<std::size_t>(count));
    for (std::size_t i = items.size(); i-- > 0;) items[i] = pop();
    return items;
  }

  std::vector<int> pop_to_mark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
    if (mark == stack_.rend()) bytes_.fail("a mark is missing");
    std::vector<int> items(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return items;
  }

  // Adds to the container on top of the stack. The result of calling OrderedDict is also a
  // container.
  void extend(const std::vector<int>& items, PickleKind kind) {
    PickleValue& container = pickle_.values[static_cast<std::size_t>(top())];
    const bool is_made = container.kind == PickleKind::call && kind == PickleKind::dict;
    if (container.kind != kind && !is_made)
      bytes_.fail("items for an object that is not a list or dict");
    if (kind == PickleKind::dict && items.size() % 2 != 0) bytes_.fail("a key without a value");
    container.items.insert(container.items.end(), items.begin(), items.end());
  }

  const PickleValue& value(int index) const {
    return pickle_.values[static_cast<std::size_t>(index)];
  }

  const std::string& text_of(int index) const {
    if (value(index).kind != PickleKind::text) bytes_.fail("a name that is not a text");
    return value(index).text;
  }

  PickleBytes& bytes_;
  const std::function<bool(std::string_view)>& is_allowed_;
  Pickle pickle_;
  std::vector<int> stack_;
  std::map<std::uint32_t, int> memo_;
};

}  // namespace

Pickle read_pickle(const ReadBytes& read, std::int64_t start, std::int64_t bytes,
                   const std::function<bool(std::string_view name)>& is_allowed) {
  PickleBytes reader(read, start, bytes);
  return Machine(reader, is_allowed).run();
}

}  // namespace opbench
