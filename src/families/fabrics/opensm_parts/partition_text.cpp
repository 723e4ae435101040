#include "families/fabrics/opensm_parts/partition_text.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text.hpp"
#include "families/fabrics/parts/rules.hpp"

namespace tundish::fabrics {
namespace {

/// fgets into 4095 bytes takes 4094; the rest of a longer line would be read as a line of its own.
constexpr std::size_t line_limit = 4094;

/// opensm compares over the length of what is written, so "" matches everything.
bool begins(std::string_view word, std::string_view written) { return word.starts_with(written); }

std::string_view strip(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

struct Token {
  std::string_view name;
  std::optional<std::string_view> value;
};

Token read_token(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return {strip(text), std::nullopt};
  return {strip(text.substr(0, equals)), strip(text.substr(equals + 1))};
}

/// strtoull with base 0, without what only it would take: signs, blanks, overflow.
std::optional<std::uint64_t> read_number(std::string_view text) {
  unsigned base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
  }
  if (text.empty()) return std::nullopt;
  std::uint64_t out = 0;
  for (const char c : text) {
    unsigned digit = 99;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
    if (digit >= base || out > (UINT64_MAX - digit) / base) return std::nullopt;
    out = out * base + digit;
  }
  return out;
}

std::string guid_text(std::uint64_t guid) {
  std::string out = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(guid >> shift) & 15U];
  return out;
}

/// An IPv6 address as inet_pton takes it, without a dotted tail, that begins with ff.
bool is_multicast(std::string_view text) {
  const auto gap = text.find("::");
  const auto groups = split(text, ':');
  if (groups.size() > 8 || (gap == std::string_view::npos && groups.size() != 8)) return false;
  if (gap != std::string_view::npos && text.find("::", gap + 1) != std::string_view::npos) {
    return false;
  }
  std::size_t empty = 0;
  for (const auto& group : groups) {
    empty += group.empty() ? 1U : 0U;
    if (group.size() > 4) return false;
    if (group.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return false;
  }
  // "ff12::" has two empty groups, "ff12::1" one.
  const std::size_t allowed = gap == std::string_view::npos ? 0 : text.ends_with("::") ? 2 : 1;
  return empty == allowed && groups[0].size() == 4 && to_lower(groups[0]).starts_with("ff");
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  PartitionText run() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size() - 1) + 1;
      ++line_;
      if (end - at > line_limit) reject("longer than 4094 bytes, where opensm breaks it in two");
      read_line(at, end);
      at = end;
    }
    close_at(text_.size());
    return std::move(out_);
  }

 private:
  void reject(std::string why) { out_.rejected.push_back({line_, std::move(why)}); }

  void read_line(std::size_t begin, std::size_t end) {
    const std::string_view whole = text_.substr(begin, end - begin);
    if (whole.find('\0') != std::string_view::npos) reject("holds a zero byte");
    const std::string_view line = whole.substr(0, whole.find('#'));
    if (line.find_first_of("\r\v\f") != std::string_view::npos) {
      reject("holds a carriage return or form feed, which opensm takes for a name");
    }
    std::size_t at = 0;
    while (true) {
      at = std::min(line.find_first_not_of(" \t\n", at), line.size());
      if (at == line.size()) return;
      const std::size_t stop = line.find(';', at);
      const std::size_t chunk_end = std::min(stop, line.size());
      read_chunk(line.substr(at, chunk_end - at), begin + at);
      last_ = begin + chunk_end;
      if (stop == std::string_view::npos) return;
      at = stop + 1;
      if (open_) current().is_closed = true;
      close_at(begin + at);
    }
  }

  PartitionDefinition& current() { return out_.definitions.back(); }

  void close_at(std::size_t end) {
    if (!open_) return;
    current().end = current().is_closed ? end : std::max(last_, current().begin);
    open_ = false;
  }

  void read_chunk(std::string_view chunk, std::size_t at) {
    if (!open_) {
      const auto colon = chunk.find(':');
      if (colon == std::string_view::npos) {
        reject("has no partition definition (no ':')");
        return;
      }
      out_.definitions.emplace_back();
      current().begin = at;
      current().line = line_;
      open_ = true;
      read_header(chunk.substr(0, colon));
      chunk.remove_prefix(colon + 1);
    }
    read_ports(chunk);
  }

  void read_header(std::string_view header) {
    const auto parts = split(header, ',');
    const Token head = read_token(parts[0]);
    std::optional<std::string_view> number = head.value;
    current().name = std::string(head.name);
    if (!number && !head.name.empty() && head.name[0] >= '0' && head.name[0] <= '9') {
      number = head.name;
      current().name.clear();
    }
    if (number) {
      const auto value = read_number(*number);
      if (!value) reject("has a partition number that is none");
      // (uint16_t): 0x10110 is 0x0110.
      const int pkey = static_cast<int>(value.value_or(0) & 0x7fffU);
      if (pkey != 0) current().pkey = pkey;
    }
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const Token flag = read_token(parts[i]);
      current().flags.push_back(
          {std::string(flag.name), std::string(flag.value.value_or(std::string_view{}))});
      read_defmember(flag);
    }
  }

  void read_defmember(const Token& flag) {
    for (const std::string_view word :
         {"mtu", "rate", "scope", "sl", "FlowLabel", "indx0", "ipoib"}) {
      if (begins(word, flag.name)) return;
    }
    if (!begins("defmember", flag.name) || !flag.value) return;
    if (begins("full", *flag.value) || begins("both", *flag.value)) {
      current().default_membership = IbMembership::full;
    } else if (begins("limited", *flag.value)) {
      current().default_membership = IbMembership::limited;
    }
  }

  void read_ports(std::string_view list) {
    for (const auto& part : split(list, ',')) {
      const Token token = read_token(part);
      if (token.name == "mgid") {  // it takes the rest of the line
        current().has_groups = true;
        if (!is_multicast(token.value.value_or(std::string_view{}))) {
          reject("lists a multicast group that is none");
        }
        return;
      }
      if (token.name.empty()) continue;
      read_port(token);
    }
  }

  void read_port(const Token& token) {
    ListedPort port;
    port.membership = current().default_membership;
    if (token.value) {
      port.membership = begins("full", *token.value) || begins("both", *token.value)
                            ? IbMembership::full
                            : IbMembership::limited;
      port.is_plain = *token.value == "full" || *token.value == "limited";
    }
    static constexpr std::pair<std::string_view, PortSet> keywords[] = {
        {"NONE", PortSet::none},           {"ALL", PortSet::all},
        {"ALL_CAS", PortSet::cas},         {"ALL_SWITCHES", PortSet::switches},
        {"ALL_ROUTERS", PortSet::routers}, {"SELF", PortSet::self}};
    for (const auto& [word, set] : keywords) {
      if (!begins(word, token.name)) continue;
      port.set = set;
      port.is_plain = port.is_plain && word == token.name;
      if (set != PortSet::none) current().ports.push_back(std::move(port));
      return;
    }
    const auto guid = read_number(token.name);
    if (!guid || *guid == 0) {
      reject("lists a port GUID that is none");
      return;
    }
    port.guid = guid_text(*guid);
    current().ports.push_back(std::move(port));
  }

  std::string_view text_;
  PartitionText out_;
  int line_ = 0;
  std::size_t last_ = 0;  ///< end of the last piece of an open definition
  bool open_ = false;
};

bool names_default(const PartitionDefinition& definition) {
  if (definition.pkey) return *definition.pkey == 0x7fff;
  return definition.name == "Default";  // found by the name that opensm gave it
}

}  // namespace

PartitionText read_partition_text(std::string_view text) { return Reader(text).run(); }

DefaultRule read_default_rule(const PartitionText& text) {
  DefaultRule out;
  for (const auto& definition : text.definitions) {
    if (!names_default(definition)) continue;
    out.is_written = true;
    for (const auto& port : definition.ports) {
      const bool full = port.membership == IbMembership::full;
      if (port.set == PortSet::all || port.set == PortSet::cas) {
        out.all_full = full;
        out.line = definition.line;
        out.full_guids.clear();
      } else if (port.set == PortSet::one && full) {
        out.full_guids.insert(port.guid);
      } else if (port.set == PortSet::one) {
        out.full_guids.erase(port.guid);
      }
    }
  }
  return out;
}

}  // namespace tundish::fabrics
