// Prometheus text by its own rules, and alert rules and runbooks that lead somewhere.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/text.hpp"
#include "codec/yaml.hpp"
#include "control/notice/classify.hpp"
#include "edge/api/api_fixture_test.hpp"
#include "edge/api/exposition.hpp"
#include "model/ops/incident_ops.hpp"

namespace tundish::edge {
namespace {

const std::string root = TUNDISH_SOURCE_DIR;

std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_name(const std::string& text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
         std::string::npos;
}

/// A strict reader of the text format: every sample after its own HELP and TYPE, all of a family
/// together, no series twice, labels quoted, numbers that are numbers.
class Samples {
 public:
  explicit Samples(const std::string& text) {
    if (text.empty() || text.back() != '\n') fault("does not end with a line feed");
    for (const auto& line : split(text, '\n')) {
      if (!line.empty()) take(line);
    }
  }
  std::vector<std::string> faults;
  std::set<std::string> families;
  std::map<std::string, std::string> series;

 private:
  void fault(const std::string& what) { faults.push_back(what); }

  void take(const std::string& line) {
    if (line.starts_with("# HELP ")) return begin(line.substr(7));
    if (line.starts_with("# TYPE ")) return type(line.substr(7));
    if (line.starts_with("#")) return fault("comment: " + line);
    sample(line);
  }
  void begin(const std::string& rest) {
    const std::string name = rest.substr(0, rest.find(' '));
    if (!is_name(name)) fault("name: " + name);
    if (!families.insert(name).second) fault("family twice: " + name);
    family_ = name;
    typed_ = false;
  }
  void type(const std::string& rest) {
    const auto words = split(rest, ' ');
    const std::set<std::string> types = {"gauge", "counter", "summary"};
    if (words.size() != 2 || words[0] != family_ || !types.contains(words[1])) {
      fault("type: " + rest);
    }
    kind_ = words.size() == 2 ? words[1] : "";
    typed_ = true;
  }
  void sample(const std::string& line) {
    const auto open = line.find('{');
    const auto close = line.rfind('}');
    const bool labelled = open != std::string::npos;
    const auto space = labelled ? close + 1 : line.find(' ');
    if ((labelled && close == std::string::npos) || space >= line.size() || line[space] != ' ') {
      return fault("sample: " + line);
    }
    const std::string name = line.substr(0, labelled ? open : space);
    const bool own = name == family_ || (kind_ == "summary" &&
                                         (name == family_ + "_sum" || name == family_ + "_count"));
    if (!own || !typed_) fault("outside its family: " + line);
    if (labelled) labels(line.substr(open + 1, close - open - 1));
    const std::string number = line.substr(space + 1);
    std::size_t used = 0;
    try {
      (void)std::stod(number, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != number.size()) fault("number: " + line);
    if (!series.emplace(line.substr(0, space), number).second) fault("series twice: " + line);
  }
  void labels(const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const auto sign = text.find("=\"", at);
      if (sign == std::string::npos) return fault("labels: " + text);
      if (!is_name(text.substr(at, sign - at))) fault("label: " + text);
      std::size_t end = sign + 2;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size()) return fault("labels: " + text);
      at = end + 1;
      if (at < text.size() && text[at] != ',') return fault("labels: " + text);
      ++at;
    }
  }

  std::string family_, kind_;
  bool typed_ = false;
};

struct AlertRule {
  std::string alert, expr, hold;
  std::map<std::string, std::string> labels, annotations;
  void fields(Fields& f) {
    f(1, "alert", alert, "name");
    f(2, "expr", expr, "when");
    f(3, "for", hold, "for how long");
    f(4, "labels", labels, "labels");
    f(5, "annotations", annotations, "annotations");
  }
};
struct AlertGroup {
  std::string name;
  std::vector<AlertRule> rules;
  void fields(Fields& f) {
    f(1, "name", name, "name");
    f(2, "rules", rules, "rules");
  }
};
struct AlertFile {
  std::vector<AlertGroup> groups;
  void fields(Fields& f) { f(1, "groups", groups, "groups"); }
};

using MetricsTest = ApiTest;

TEST(Exposition, labels_are_escaped) {
  api::Exposition out;
  out.head("a", "help");
  out.labelled("a", "x", "q\"b\\s\nn", 3);
  EXPECT_EQ(out.take(), "# HELP a help\n# TYPE a gauge\na{x=\"q\\\"b\\\\s\\nn\"} 3\n");
  api::Exposition seconds;
  seconds.seconds("s", {{"act", "reset"}}, 61000005);
  EXPECT_EQ(seconds.take(), "s{act=\"reset\"} 61.000005\n");
}

TEST(Exposition, the_reader_of_these_tests_finds_faults) {
  for (const char* bad :
       {"a 1\n", "# HELP a x\na 1\n", "# HELP a x\n# TYPE a gauge\nb 1\n",
        "# HELP a x\n# TYPE a gauge\na{x=1} 1\n", "# HELP a x\n# TYPE a gauge\na 1\na 2\n",
        "# HELP a x\n# TYPE a gauge\na one\n", "# HELP a x\n# TYPE a gauge\na 1"}) {
    EXPECT_FALSE(Samples(bad).faults.empty()) << bad;
  }
}

TEST_F(MetricsTest, the_text_is_what_prometheus_reads) {
  ASSERT_EQ(order("train", 1).status, 201);
  Witness one;
  one.id = "w1";
  one.source = "kmsg";
  one.boot_id = "boot";
  one.seq = 1;
  one.observed_at = scheduler_.now();
  one.event.kind = KernelEventKind::fallen_off_bus;
  const NodeId gpu3 = ledger_.view().find_named<Node>("gpu3")->id;
  ASSERT_TRUE(ledger_.perform(*record_witnesses(gpu3, {one}, catalogue_), "agent", ""));
  Node seen = *ledger_.view().find(gpu3);
  seen.status.verdicts.push_back({"gpu_count", VerdictState::fail, "7 of 8", "", {}});
  put(seen);
  settle();
  const Samples samples(call({"GET", "/metrics"}).body);
  EXPECT_TRUE(samples.faults.empty()) << join(samples.faults, "\n");
  EXPECT_EQ(samples.series.at(R"(tundish_verdicts{check="gpu_count",state="fail"})"), "1");
  EXPECT_EQ(samples.series.at(R"(tundish_incidents_open{class="hardware"})"), "1");
  EXPECT_EQ(samples.series.at(R"(tundish_claims_held{holder="incident"})"), "1");
  const std::string tenants = call({"GET", "/metrics", "", "a-viewer"}).body;
  EXPECT_TRUE(Samples(tenants).faults.empty());
  EXPECT_EQ(tenants.find("tundish_verdicts"), std::string::npos) << "a tenant reads no site";
}

TEST_F(MetricsTest, every_alert_asks_for_what_there_is_and_leads_to_a_page) {
  AlertFile file;
  const std::string text = read(root + "/catalog/prometheus/alerts.yaml");
  const auto parsed = parse_yaml(text, file, "alerts.yaml");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const Samples samples(call({"GET", "/metrics"}).body);
  std::set<std::string> names;
  for (const auto& group : file.groups) {
    for (auto rule : group.rules) {
      EXPECT_TRUE(names.insert(rule.alert).second) << rule.alert;
      std::size_t at = 0;
      int asked = 0;
      while ((at = rule.expr.find("tundish_", at)) != std::string::npos) {
        std::string name = rule.expr.substr(at);
        name = name.substr(0, name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"));
        for (const char* end : {"_sum", "_count"}) {
          if (name.ends_with(end)) name.resize(name.size() - std::string(end).size());
        }
        EXPECT_TRUE(samples.families.contains(name)) << rule.alert << " asks for " << name;
        at += name.size();
        ++asked;
      }
      EXPECT_GT(asked, 0) << rule.alert;
      EXPECT_FALSE(rule.annotations["summary"].empty()) << rule.alert;
      EXPECT_TRUE(std::filesystem::exists(root + "/" + rule.annotations["runbook"])) << rule.alert;
      EXPECT_TRUE(rule.labels["severity"] == "page" || rule.labels["severity"] == "ticket");
    }
  }
  EXPECT_GE(names.size(), 10U);
}

TEST(NoticeCatalogue, every_class_has_a_rule_and_a_runbook_that_is_there) {
  NoticeRules rules;
  const std::string text = read(root + "/catalog/notices.yaml");
  const auto parsed = parse_yaml(text, rules, "notices.yaml");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const auto checked = control::check_rules(rules);
  EXPECT_TRUE(checked) << checked.error().message();
  for (const auto& [name, rule] : rules.classes) {
    EXPECT_TRUE(std::filesystem::exists(root + "/" + rules.runbooks + rule.runbook)) << name;
  }
}

TEST(NoticeCatalogue, an_unknown_key_is_refused_by_its_line) {
  NoticeRules rules;
  const auto parsed =
      parse_yaml("version: 1\nclasses:\n  hardware:\n    chanel: page\n", rules, "notices.yaml");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().message().find("notices.yaml:4"), std::string::npos)
      << parsed.error().message();
}

TEST(Runbooks, links_between_them_resolve) {
  for (const auto& file : std::filesystem::directory_iterator(root + "/docs/runbooks")) {
    const std::string text = read(file.path());
    std::size_t at = 0;
    while ((at = text.find("](", at)) != std::string::npos) {
      const std::string link = text.substr(at + 2, text.find(')', at) - at - 2);
      EXPECT_TRUE(std::filesystem::exists(file.path().parent_path() / link))
          << file.path() << " -> " << link;
      ++at;
    }
  }
}

}  // namespace
}  // namespace tundish::edge
