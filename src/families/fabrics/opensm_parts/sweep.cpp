#include "families/fabrics/opensm_parts/sweep.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/text.hpp"
#include "families/fabrics/parts/rules.hpp"

namespace tundish::fabrics {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  for (auto& word : split(line, ' ')) {
    if (!word.empty()) out.push_back(std::move(word));
  }
  return out;
}

std::optional<std::int64_t> read_hex(std::string_view word) {
  if (!word.starts_with("0x")) return std::nullopt;
  return parse_integer(word.substr(2), 16);
}

/// "0x20001" and "0x0000000000020001" are the same port.
std::optional<std::string> read_guid(std::string_view word) {
  if (!word.starts_with("0x") || word.size() > 18) return std::nullopt;
  return normalise_guid("0x" + std::string(18 - word.size(), '0') + std::string(word.substr(2)));
}

bool is_kind(const std::string& word) { return word == "CA" || word == "SW" || word == "RT"; }

class SweepReader {
 public:
  Sweep run(std::string_view text) {
    for (const auto& line : split(text, '\n')) read_line(line);
    for (auto& [guid, port] : ports_) {
      port.is_manager = guid == manager_;
      out_.ports.push_back(std::move(port));
    }
    std::sort(out_.cables.begin(), out_.cables.end(),
              [](const auto& x, const auto& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
    out_.cables.erase(std::unique(out_.cables.begin(), out_.cables.end()), out_.cables.end());
    return std::move(out_);
  }

 private:
  void read_line(const std::string& line) {
    const auto words = words_of(line);
    if (words.empty()) return;
    if (words[0] == "sminfo:") return read_manager(words);
    if (words[0] == "pkeys") return begin_table(words);
    if (is_kind(words[0])) return read_link(words);
    if (table_ != nullptr) read_row(words);
  }

  void read_manager(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] != "guid") continue;
      std::string guid = words[i + 1];
      while (!guid.empty() && guid.back() == ',') guid.pop_back();
      if (const auto found = read_guid(guid)) {
        manager_ = *found;
        out_.has_manager = true;
      }
    }
  }

  /// "CA 4 1 0x0000000000020021 4x SDR - SW 2 3 0x0000000000001001 ( ... )"
  void read_link(const std::vector<std::string>& words) {
    table_ = nullptr;
    if (words.size() < 4) return;
    const auto guid = read_guid(words[3]);
    if (!guid || !parse_integer(words[2])) return;
    if (words[0] != "SW") ports_[*guid].guid = *guid;
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.end() - dash < 5 || !is_kind(dash[1])) return;
    const auto peer = read_guid(dash[4]);
    if (!peer || !parse_integer(dash[3])) return;
    FabricCable cable{*guid + "/" + words[2], *peer + "/" + dash[3]};
    if (cable.b < cable.a) std::swap(cable.a, cable.b);
    out_.cables.push_back(std::move(cable));
  }

  /// "pkeys 0x0000000000020021" before each table, by the script.
  void begin_table(const std::vector<std::string>& words) {
    table_ = nullptr;
    const auto guid = words.size() > 1 ? read_guid(words[1]) : std::nullopt;
    if (guid && ports_.contains(*guid)) table_ = &ports_[*guid];
  }

  /// "   8: 0x8101 0x7fff ...", or the last line, which says how many there are.
  void read_row(const std::vector<std::string>& words) {
    if (words.size() > 2 && words[1] == "pkeys" && words[2] == "capacity") {
      table_->has_table = true;
      table_ = nullptr;
      return;
    }
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto value = read_hex(words[i]);
      if (!value || *value < 0 || *value > 0xffff || (*value & 0x7fff) == 0) continue;
      table_->pkeys.push_back({static_cast<int>(*value & 0x7fff), (*value & 0x8000) != 0
                                                                      ? IbMembership::full
                                                                      : IbMembership::limited});
    }
  }

  Sweep out_;
  std::map<std::string, FabricPort> ports_;
  std::string manager_;
  FabricPort* table_ = nullptr;
};

std::optional<IbMembership> carried(const FabricPort& port, int pkey) {
  std::optional<IbMembership> out;
  for (const auto& entry : port.pkeys) {
    if (entry.pkey == pkey && out != IbMembership::full) out = entry.membership;
  }
  return out;
}

std::string kind(IbMembership membership) {
  return membership == IbMembership::full ? "full" : "limited";
}

}  // namespace

Sweep parse_sweep(std::string_view text) { return SweepReader().run(text); }

std::vector<FabricPath> read_paths(std::string_view text, std::vector<FabricPath> asked) {
  std::map<std::pair<std::string, std::string>, FabricPath*> by_ends;
  for (auto& path : asked) by_ends[{path.from, path.to}] = &path;
  FabricPath* at = nullptr;
  for (const auto& line : split(text, '\n')) {
    const std::string_view trimmed = trim(line);
    const auto words = words_of(line);
    if (words.size() == 3 && (words[0] == "path" || words[0] == "silent")) {
      const auto found = by_ends.find({words[1], words[2]});
      at = found == by_ends.end() ? nullptr : found->second;
      if (at != nullptr) at->answered = words[0] == "path";
    } else if (at != nullptr && trimmed.starts_with("pkey.")) {
      const auto digits = trimmed.find_first_not_of('.', 4);
      const auto value =
          digits == std::string_view::npos ? std::nullopt : read_hex(trimmed.substr(digits));
      if (!value || *value < 0 || *value > 0xffff) {
        at->answered = false;  // what is not understood proves nothing
        at = nullptr;
      } else {
        at->pkeys.push_back(static_cast<int>(*value & 0x7fff));
      }
    }
  }
  return asked;
}

std::vector<PortFault> find_faults(const Sweep& sweep, const FabricState& desired,
                                   const FabricOwnership& ownership,
                                   const std::set<std::string>& full_guids) {
  std::vector<PortFault> out;
  for (const auto& port : sweep.ports) {
    if (!port.has_table) continue;
    const std::string name = "port " + port.guid;
    if (!port.is_manager && !full_guids.contains(port.guid) &&
        carried(port, 0x7fff) == IbMembership::full) {
      out.push_back({name + " is a full member of the default partition", true, false});
    }
    for (const auto& entry : port.pkeys) {
      if (!is_own_pkey(entry.pkey, ownership)) continue;
      const auto* const partition = find_partition(desired, entry.pkey);
      const auto* const member =
          partition != nullptr ? find_member(*partition, port.guid) : nullptr;
      if (member != nullptr && entry.membership == member->membership) continue;
      out.push_back({name + " still carries PKey " + pkey_text(entry.pkey) + " as " +
                         kind(entry.membership) + " member",
                     false, true});
    }
    for (const auto& partition : desired.partitions) {
      const auto* const member = find_member(partition, port.guid);
      if (member == nullptr || carried(port, partition.pkey) == member->membership) continue;
      out.push_back({name + " does not carry PKey " + pkey_text(partition.pkey) + " of " +
                         partition.name + " as " + kind(member->membership) + " member",
                     false, false});
    }
  }
  return out;
}

}  // namespace tundish::fabrics
