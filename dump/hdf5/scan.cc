#include "dump/hdf5/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_set>

#include "dump/dump_meaning.h"
#include "dump/hdf5/attributes.h"
#include "dump/hdf5/c_api.h"
#include "tensor/utf8.h"

namespace opbench::hdf5 {
namespace {

constexpr std::size_t kMostObjects = 20'000'000;
constexpr int kDeepest = 64;  // bounds the recursion
constexpr int kMostRepeats = 10'000;

struct Link {
  std::string name;
  H5L_type_t type;
  haddr_t address;  // address of a hard link's object
};

// Exceptions must not pass through HDF5. A negative result ends the iteration.
herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* links) noexcept try {
  static_cast<std::vector<Link>*>(links)->push_back(
      {name, info->type, info->type == H5L_TYPE_HARD ? info->u.address : HADDR_UNDEF});
  return 0;
} catch (const std::bad_alloc&) {
  return -1;
}

// Links by the bytes of their names.
std::vector<Link> links_of(hid_t group) {
  std::vector<Link> links;
  checked(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_link, &links));
  return links;
}

std::optional<std::int64_t> parse_seq(std::string_view text) {
  std::int64_t seq = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(seq) : std::nullopt;
}

// True if there are attributes that an entry does not store.
bool has_others(const DumpAttributes& attributes) {
  const int known = attributes.type.has_value() + attributes.data_type.has_value() +
                    attributes.device_type.has_value() + attributes.format_type.has_value() +
                    attributes.stride.has_value();
  return attributes.count > known;
}

/// Problem with an object; empty text: no problem.
struct Problem {
  std::string text;
  bool is_damage = false;
};

herr_t refuse_external(const char*, const char*, const char*, const char*, unsigned*, hid_t,
                       void*) {
  return -1;
}

class Scan {
 public:
  Scan(std::int64_t file_bytes, const std::string& file_name, const ScanHooks& hooks)
      : file_bytes_(file_bytes), file_name_(file_name), hooks_(hooks) {}

  Catalogue run(hid_t file) {
    const ObjectHandle root(H5Oopen(file, "/", inside_access()));
    visit_group(root, address_of(root), "", {});
    return std::move(catalogue_);
  }

 private:
  std::string message(const std::string& path, const std::string& what) const {
    return fmt::format("{}: {}: {}", file_name_, printable(path), what);
  }

  void report(const std::string& path, const Problem& problem) {
    catalogue_.problems.push_back(message(path, problem.text));
    catalogue_.damaged += problem.is_damage;
  }

  // Runs `work` and returns its problem.
  template <class Work>
  Problem problem_of(Work&& work) {
    try {
      work();
      return {};
    } catch (const Error& error) {
      return {error.what()};
    } catch (const H5::Exception&) {
      return {"damaged: " + errors_.text(), true};
    }
  }

  void count_object() {
    if (++objects_ % 1000 == 0) hooks_.alive();
    if (objects_ > kMostObjects) {
      throw Error(fmt::format("more than {} objects: are there cycles of links?", kMostObjects));
    }
  }

  // `ancestors` are the addresses of the groups above and of the group.
  void visit_group(hid_t group, haddr_t address, const std::string& path,
                   std::vector<haddr_t> ancestors) {
    if (std::find(ancestors.begin(), ancestors.end(), address) != ancestors.end()) {
      throw Error("a group that holds itself");
    }
    if (ancestors.size() >= kDeepest) throw Error("groups nested too deep");
    // Groups that contain each other repeatedly would have endless paths.
    if (!seen_.insert(address).second && ++repeats_ > kMostRepeats) {
      throw Error(fmt::format("a group that is linked more than once, as are {} others before it",
                              kMostRepeats));
    }
    ancestors.push_back(address);
    constexpr std::size_t kRecordDepth = 3;  // the root, an operator and a record
    if (ancestors.size() == kRecordDepth) begin_record(group, path);
    for (const Link& link : links_of(group)) {
      count_object();
      if (ancestors.size() == kRecordDepth && link.name == "input") {
        catalogue_.records.back().has_input_group = true;
      }
      visit_link(group, path + "/" + link.name, link, ancestors);
    }
    if (ancestors.size() == kRecordDepth) hand_over();
  }

  // Hands over complete records, because all records of a large file need much memory.
  void hand_over() {
    constexpr std::size_t kPart = 512;  // records and entries
    listed_ += catalogue_.records.back().entries.size() + 1;
    if (listed_ < kPart) return;
    hooks_.part(catalogue_);
    catalogue_ = {};
    listed_ = 0;
  }

  void visit_link(hid_t group, const std::string& path, const Link& link,
                  const std::vector<haddr_t>& ancestors) {
    bool is_dataset = false;
    const Problem problem = problem_of([&] {
      const ObjectHandle object = open(group, link);
      const H5I_type_t type = H5Iget_type(object);
      is_dataset = type == H5I_DATASET;
      if (is_dataset) {
        add_dataset(object, path, ancestors.size());
      } else if (type == H5I_GROUP) {
        const bool is_hard = link.type == H5L_TYPE_HARD;
        visit_group(object, is_hard ? link.address : address_of(object), path, ancestors);
      } else {
        throw Error("a named datatype, which holds no data");
      }
    });
    if (!problem.text.empty() && !is_dataset) report(path, problem);
  }

  static haddr_t address_of(hid_t object) {
    H5O_info_t info{};
    checked(H5Oget_info2(object, &info, H5O_INFO_BASIC));
    return info.addr;
  }

  // Opens hard links by address, which avoids a search by name. Errors: throws Error if the link
  // must not be followed.
  static ObjectHandle open(hid_t group, const Link& link) {
    if (link.type == H5L_TYPE_EXTERNAL) throw Error("an external link, which is not followed");
    if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT) {
      throw Error("a link of an unknown kind, which is not followed");
    }
    // HDF5 would treat such a name as a path, which could lead anywhere.
    if (link.name.empty() || link.name == "." || link.name.find('/') != link.name.npos) {
      throw Error("a name that is a path, which is not followed");
    }
    if (link.type == H5L_TYPE_HARD) return ObjectHandle(H5Oopen_by_addr(group, link.address));
    const hid_t object = H5Oopen(group, link.name.c_str(), inside_access());
    if (object < 0) throw Error("a soft link that leads nowhere in this file");
    return ObjectHandle(object);
  }

  void begin_record(hid_t group, const std::string& path) {
    const std::size_t slash = path.find('/', 1);
    DumpRecord record{path.substr(1, slash - 1), path.substr(slash + 1), {}, {}, {}};
    record.seq = parse_seq(record.seq_text);
    keep_notes(path, record, [&] { return read_texts(group); });
    catalogue_.records.push_back(std::move(record));
  }

  // In older dumps the group has the notes, else each dataset has the same notes.
  template <class Read>
  void keep_notes(const std::string& path, DumpRecord& record, Read&& read) {
    const Problem problem = problem_of([&] { record.notes = read(); });
    if (!problem.text.empty()) report(path, {problem.text});  // without hiding the tensors
  }

  // `depth` counts the groups above, with the root.
  void add_dataset(hid_t dataset, const std::string& path, std::size_t depth) {
    DumpEntry entry;
    entry.path = path;
    const Problem problem = problem_of([&] { describe_dataset(dataset, file_bytes_, entry); });
    if (!problem.text.empty()) add_remark(entry.problem, problem.text);
    constexpr std::size_t kInsideRecord = 3;  // the root, an operator and a record
    if (depth < kInsideRecord) {
      entry.name = path.substr(path.rfind('/') + 1);
      catalogue_.strays.push_back(std::move(entry));
      return;
    }
    place(entry, path.substr(path.find('/', path.find('/', 1) + 1) + 1));
    DumpRecord& record = catalogue_.records.back();
    if (record.notes.empty() && has_others(entry.attributes)) {
      keep_notes(path, record, [&] { return read_notes(dataset); });
    }
    record.entries.push_back(std::move(entry));
  }

  // `rest` is the path below the record.
  static void place(DumpEntry& entry, const std::string& rest) {
    const std::size_t slash = rest.find('/');
    const std::string_view side = std::string_view(rest).substr(0, slash);
    const bool has_side = slash != rest.npos && (side == "input" || side == "output");
    entry.side = !has_side ? Side::other : side == "input" ? Side::input : Side::output;
    entry.name = has_side ? rest.substr(slash + 1) : rest;
  }

  std::int64_t file_bytes_;
  const std::string& file_name_;
  const ScanHooks& hooks_;
  const ErrorCapture errors_;
  std::unordered_set<haddr_t> seen_;  // addresses of groups
  int repeats_ = 0;                   // number of visits to groups seen before
  std::size_t objects_ = 0;
  std::size_t listed_ = 0;  // records and entries since the last part
  Catalogue catalogue_;
};

}  // namespace

hid_t inside_access() {
  static const hid_t list = [] {
    const hid_t made = checked(H5Pcreate(H5P_LINK_ACCESS));
    checked(H5Pset_elink_cb(made, refuse_external, nullptr));
    return made;
  }();
  return list;
}

Catalogue scan(hid_t file, std::int64_t file_bytes, const std::string& file_name,
               const ScanHooks& hooks) {
  return Scan(file_bytes, file_name, hooks).run(file);
}

}  // namespace opbench::hdf5
