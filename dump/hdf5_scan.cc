#include "dump/hdf5_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "dump/dump_names.h"
#include "dump/hdf5_attributes.h"
#include "dump/hdf5_entry.h"
#include "dump/hdf5_errors.h"

namespace opbench::hdf5 {
namespace {

struct Link {
  std::string name;
  H5L_type_t type;
};

// Exceptions must not pass through HDF5; a negative result makes it give up.
herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* links) noexcept try {
  static_cast<std::vector<Link>*>(links)->push_back({name, info->type});
  return 0;
} catch (const std::bad_alloc&) {
  return -1;
}

// "grads_10" after "grads_2": runs of digits compare by length first. The last resort tells "01"
// from "1".
bool natural_less(std::string_view a, std::string_view b) {
  const auto key = [](std::string_view text) {
    const std::size_t digits = text.size() - (text.find_last_not_of("0123456789") + 1);
    return std::tuple(text.substr(0, text.size() - digits), digits, text);
  };
  return key(a) < key(b);
}

std::vector<Link> links_of(const H5::Group& group) {
  std::vector<Link> links;
  checked(H5Literate(group.getId(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_link, &links));
  std::sort(links.begin(), links.end(),
            [](const Link& a, const Link& b) { return natural_less(a.name, b.name); });
  return links;
}

// None unless `text` is a positive number as the dumper spells it.
std::optional<int> parse_seq(std::string_view text) {
  int seq = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || seq < 0 || std::to_string(seq) != text) return std::nullopt;
  return seq;
}

std::string name_of(H5O_type_t type) {
  if (type == H5O_TYPE_GROUP) return "a group";
  if (type == H5O_TYPE_DATASET) return "a dataset";
  return "a named datatype";
}

class Scan {
 public:
  Scan(const H5::H5File& file, const std::string& file_name)
      : file_(file),
        file_name_(file_name),
        file_bytes_(static_cast<std::int64_t>(file.getFileSize())) {}

  ScanResult run() {
    const H5::Group root = file_.openGroup("/");
    is_new(root);
    for_each_group(root, "", "an operator's group", [&](const H5::Group& op, const auto& name) {
      for_each_group(
          op, "/" + name, "a record's group, named by its number",
          [&](const H5::Group& group, const std::string& seq) { add_record(group, name, seq); });
    });
    std::sort(result_.records.begin(), result_.records.end(),
              [](const DumpRecord& a, const DumpRecord& b) {
                return std::tie(a.seq, a.op) < std::tie(b.seq, b.op);
              });
    return std::move(result_);
  }

 private:
  std::string message(const std::string& path, const std::string& what) const {
    return fmt::format("{}: {}: {}", file_name_, printable(path), what);
  }

  void report(const std::string& path, const std::string& what) {
    result_.problems.push_back(message(path, what));
  }

  // False if the group was seen before: groups that hold themselves, or each other many times over,
  // would have no end.
  bool is_new(const H5::Group& group) {
    H5O_info_t info{};
    group.getObjinfo(info);
    return seen_.insert(info.addr).second;
  }

  // Runs `work` and returns what went wrong.
  template <class Work>
  static std::string problem_of(Work&& work) {
    try {
      guarded<Error>("damaged", work);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  // The type of what a link points to. Errors: throws Error if the link is not to be followed.
  static H5O_type_t type_behind(const H5::Group& group, const Link& link) {
    if (link.type == H5L_TYPE_SOFT) throw Error("a soft link, which is not followed");
    if (link.type == H5L_TYPE_EXTERNAL) throw Error("an external link, which is not followed");
    if (link.type != H5L_TYPE_HARD) throw Error("a link of an unknown kind, which is not followed");
    // A name that HDF5 would take for a path could lead anywhere.
    const std::string problem = component_problem(link.name);
    if (!problem.empty()) throw Error(problem);
    return group.childObjType(link.name);
  }

  H5::Group open_group(const H5::Group& parent, const Link& link, const std::string& wanted) {
    const H5O_type_t type = type_behind(parent, link);
    if (type != H5O_TYPE_GROUP) {
      throw Error(fmt::format("{} where {} is expected", name_of(type), wanted));
    }
    H5::Group group = parent.openGroup(link.name);
    if (!is_new(group)) throw Error("a group that is linked more than once");
    return group;
  }

  template <class Work>
  void for_each_group(const H5::Group& parent, const std::string& path, const std::string& wanted,
                      Work&& work) {
    for (const Link& link : links_of(parent)) {
      const std::string problem =
          problem_of([&] { work(open_group(parent, link, wanted), link.name); });
      if (!problem.empty()) report(path + "/" + link.name, problem);
    }
  }

  void add_record(const H5::Group& group, const std::string& op, const std::string& name) {
    const auto seq = parse_seq(name);
    if (!seq) throw Error("a record must be named by its number");
    const std::string path = fmt::format("/{}/{}", op, name);
    DumpRecord record{op, *seq, {}, {}, {}};
    const std::string problem = problem_of([&] { record.notes = read_notes(group); });
    if (!problem.empty()) report(path, problem);
    for_each_group(group, path, "the group input or output",
                   [&](const H5::Group& side, const std::string& side_name) {
                     if (side_name != "input" && side_name != "output") {
                       throw Error("only input and output are allowed here");
                     }
                     auto& entries = side_name == "input" ? record.inputs : record.outputs;
                     add_entries(side, path + "/" + side_name, "", entries);
                   });
    result_.records.push_back(std::move(record));
  }

  // `list` is the name of the list whose elements these are, with a slash; empty for arguments.
  void add_entries(const H5::Group& group, const std::string& path, const std::string& list,
                   std::vector<DumpEntry>& entries) {
    for (const Link& link : links_of(group)) {
      DumpEntry entry;
      entry.name = list + link.name;
      entry.path = path + "/" + link.name;
      bool is_list = false;
      const std::string problem = problem_of([&] {
        is_list = type_behind(group, link) == H5O_TYPE_GROUP && list.empty();
        if (is_list) {
          add_entries(open_group(group, link, ""), entry.path, link.name + "/", entries);
        } else {
          add_dataset(group, link, entry);
        }
      });
      if (!problem.empty()) entry.problem = message(entry.path, problem);
      if (!is_list || !problem.empty()) entries.push_back(std::move(entry));
    }
  }

  void add_dataset(const H5::Group& group, const Link& link, DumpEntry& entry) {
    const H5O_type_t type = type_behind(group, link);
    if (type != H5O_TYPE_DATASET) {
      throw Error(fmt::format("{} where a dataset is expected", name_of(type)));
    }
    describe_dataset(group.openDataSet(link.name), file_bytes_, entry);
  }

  const H5::H5File& file_;
  const std::string& file_name_;
  std::int64_t file_bytes_;
  std::set<haddr_t> seen_;
  ScanResult result_;
};

}  // namespace

ScanResult scan(const H5::H5File& file, const std::string& file_name) {
  return Scan(file, file_name).run();
}

}  // namespace opbench::hdf5
