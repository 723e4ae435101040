#pragma once
// What the readers of EOS and NX-OS share: whose object a line is about, and what was made of it.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "families/switches/parts/line_tree.hpp"
#include "families/switches/switch_item.hpp"

namespace tundish::switches {

/// A number of the given range, or nullopt.
std::optional<int> read_number(std::string_view text, std::int64_t from, std::int64_t to);
/// "10,20-22" as numbers; nullopt when it is no list of VLANs.
std::optional<std::vector<int>> read_vlans(std::string_view text);
/// A MAC in any of the usual notations as six lower-case octets; nullopt for anything else.
std::optional<std::string> read_mac(std::string_view text);
/// An AS number, also in the notation high.low; 0 for anything else.
std::int64_t read_asn(std::string_view text);
/// The rest of a line behind its first words.
std::string rest_of(const std::vector<std::string>& words, std::size_t from);

/// A VLAN of ours is called seg10010 after its VNI; a name of another form is a person's choice.
bool fits_segment_name(std::string_view name, int vni);

/// How a vendor writes what a port of ours may say.
struct PortWords {
  std::string_view vrf;                 ///< in front of a VRF's name
  std::vector<std::string_view> plain;  ///< lines that change nothing
  int routed_mtu = 0;
};

class LineReader {
 public:
  explicit LineReader(const SwitchOwnership& ownership) : ownership_(ownership) {}

  bool is_our_vrf(std::string_view name) const;
  bool is_our_vlan(int vlan) const;
  bool is_our_l3vlan(int vlan) const;
  bool is_our_acl(std::string_view name) const;
  bool is_our_port(std::string_view name) const;

  /// The object with this key, made when it is the first line about it.
  VrfState& vrf(const std::string& name);
  SegmentState& segment(int vlan);
  AclState& acl(const std::string& name);

  /// A line within an object of ours that says something we do not know.
  void unclear(const std::string& place, const std::string& line);
  void unclear_all(const std::string& place, const LineTree& node);
  /// Others' lines: what they use is noted; what reaches into our networks is unclear.
  void foreign(const std::string& place, const LineTree& node);

  void read_acl(const std::string& name, const LineTree& node);
  /// A port of ours in one of its three states; half way between them is unclear.
  void read_port(const LineTree& node, const std::string& name, const PortWords& words);
  /// `text` is a route target as a line has it.
  void note_target(const std::string& text) { targets_.insert(text); }
  void note_vlan(int vlan) { vlans_.insert(vlan); }
  void note_vni(int vni) { vnis_.insert(vni); }
  void note_vrf(const std::string& name) { vrfs_.insert(name); }
  void note_acl(const std::string& name) { acls_.insert(name); }
  /// A prefix that the switch tells others of, in a VRF of ours.
  void note_network(const std::string& vrf, const std::string& prefix) {
    networks_[vrf].insert(prefix);
  }

  /// Of the VRFs that are ours, so far.
  std::vector<std::string> vrf_names() const;
  std::vector<int> segment_vlans() const;

  SwitchState& state() { return state_; }
  /// Before finish(), where the vendor announces prefixes one by one: a host route that nobody is
  /// told of leads nobody to it.
  void compare_networks();
  SwitchSeen finish();

 private:
  const SwitchOwnership& ownership_;
  SwitchState state_;
  std::map<std::string, VrfState> own_vrfs_;
  std::map<int, SegmentState> own_segments_;
  std::map<std::string, AclState> own_acls_;
  std::set<int> vlans_, vnis_;
  std::set<std::string> vrfs_, targets_, acls_;
  std::map<std::string, std::set<std::string>> networks_;
  std::vector<std::string> unclear_;
};

/// Prefix lists and route maps of a configuration, and the leaks that use them.
class LeakReader {
 public:
  /// False: the line is no entry of a prefix list.
  void prefix_entry(const std::string& list, std::vector<std::string> words);
  void route_map(const std::string& name, const std::string& action, const LineTree& node);
  /// The prefixes that this map lets through; nullopt with `why` when it does more than that.
  std::optional<std::vector<std::string>> prefixes(const std::string& map, std::string& why) const;
  std::optional<std::vector<std::string>> list(const std::string& name, std::string& why) const;
  /// The list denies the rest in so many words, as ours do: it is never empty for a moment.
  bool ends(const std::string& list) const;
  struct Entry {
    std::string action;
    std::vector<std::string> lines;
  };
  const std::vector<Entry>* find_map(const std::string& name) const;

 private:
  std::map<std::string, std::vector<std::vector<std::string>>> lists_;
  std::map<std::string, std::vector<Entry>> maps_;
};

}  // namespace tundish::switches
