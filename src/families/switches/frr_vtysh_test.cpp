// The real parsers read what the items write: `vtysh -C` of FRR and `nft -c`. Skipped, with the
// reason, where they are not installed or we are not root.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "families/switches/item_for_test.hpp"

namespace tundish::switches {
namespace {

struct Outcome {
  int rc = -1;
  std::string out;
};

Outcome run(const std::string& command) {
  Outcome out;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return out;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    out.out.append(buffer, got);
  }
  out.rc = pclose(pipe);
  return out;
}

class TempFile {
 public:
  explicit TempFile(const std::string& text) {
    char name[] = "/tmp/tundish-switch-XXXXXX";
    const int fd = mkstemp(name);
    path_ = name;
    if (fd >= 0) close(fd);
    std::ofstream(path_) << text;
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

StateShape shape_of(const std::string& name) {
  StateShape out;
  if (name == "sonic") {
    out.port_name = [](int i) { return "Ethernet" + std::to_string(4 * (i - 1)); };
  }
  return out;
}

void expect_vtysh_reads(const std::string& text, const std::string& whose) {
  const TempFile file(text);
  const Outcome result = run("vtysh -C -f " + file.path());
  EXPECT_EQ(result.rc, 0) << whose << ": " << result.out << "\n" << text;
}

TEST(SwitchFrrVtysh, frr_itself_reads_what_is_rendered_and_every_step) {
  if (run("command -v vtysh").rc != 0) GTEST_SKIP() << "vtysh is not installed (package frr)";
  // What vtysh accepts says little if it accepts everything.
  const TempFile wrong("router bgp 65001\n no such word\n");
  ASSERT_NE(run("vtysh -C -f " + wrong.path()).rc, 0);
  for (const std::string name : {"frr", "frr_netns", "sonic"}) {
    const SwitchItem& item = *find_switch_item(name);
    std::string all_steps;
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
      StateMaker maker(seed, item.capabilities(), shape_of(name));
      const SwitchState state = maker.make(4), next = maker.change(state);
      expect_vtysh_reads((*item.render(state))[name == "sonic" ? 1 : 0].text, name);
      SwitchState none = state;
      none.vrfs.clear();
      none.segments.clear();
      none.acls.clear();
      for (auto& port : none.ports) port = {port.name, PortMode::quarantine, 0, "", "", ""};
      const std::pair<const SwitchState*, const SwitchState*> ways[] = {
          {&none, &state}, {&state, &next}, {&next, &none}};
      for (const auto& [from, to] : ways) {
        for (const auto& step : steps_between(item, *from, *to)) {
          if (step.file == "vtysh") all_steps += step.text;
        }
      }
    }
    expect_vtysh_reads(all_steps, name);
  }
}

TEST(SwitchFrrVtysh, nft_itself_holds_the_lists_and_shows_them_as_rendered) {
  if (run("command -v nft").rc != 0) GTEST_SKIP() << "nft is not installed";
  if (run("unshare -n true").rc != 0) GTEST_SKIP() << "no right to make a network namespace";
  const SwitchItem& item = *find_switch_item("frr");
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    StateMaker maker(seed, item.capabilities());
    const SwitchState state = maker.make(5);
    if (state.acls.empty()) continue;
    SwitchFiles files = *item.render(state);
    const TempFile rules(files[2].text);
    const Outcome shown =
        run("unshare -n sh -c 'nft -f " + rules.path() + " && nft -nn list ruleset'");
    ASSERT_EQ(shown.rc, 0) << shown.out << files[2].text;
    files[2].text = shown.out;
    const auto seen = *item.parse(files, ownership_for_test(state));
    EXPECT_TRUE(seen.own == state && seen.unclear.empty()) << shown.out;
  }
}

}  // namespace
}  // namespace tundish::switches
