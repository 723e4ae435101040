#include "codec/csv.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "codec/utf8.hpp"

namespace tundish {
namespace {

constexpr std::string_view separators = ",;\t";
constexpr std::string_view formula_starts = "=+-@\t\r";

bool is_line_end(char c) { return c == '\n' || c == '\r'; }
bool is_blank(std::string_view cell) { return trim(cell).empty(); }

/// "\r\n" counts once.
std::size_t line_end_size(std::string_view text, std::size_t at) {
  return text.substr(at).starts_with("\r\n") ? 2 : 1;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  char separator() const { return separator_; }

  /// Excel's own line that names the separator.
  void take_separator_line() {
    const auto rest = text_.substr(at_);
    const bool named = rest.starts_with("sep=") && rest.size() > 4 &&
                       separators.find(rest[4]) != separators.npos &&
                       (rest.size() == 5 || is_line_end(rest[5]));
    if (!named) return;
    separator_ = rest[4];
    separator_is_known_ = true;
    at_ += 5;
    if (!done()) take_line_end();
  }

  /// The most frequent candidate of the record ahead, outside quotes.
  void detect_separator() {
    if (separator_is_known_) return;
    std::size_t best = 0;
    for (const char candidate : separators) {
      const std::size_t count = count_ahead(candidate);
      if (count > best) {
        best = count;
        separator_ = candidate;
      }
    }
  }

  Result<CsvRow> take_record() {
    CsvRow record{line_, {}};
    while (true) {
      record.cells.push_back(TRY(take_cell(record.row)));
      if (done()) return record;
      if (is_line_end(text_[at_])) {
        take_line_end();
        return record;
      }
      ++at_;
    }
  }

 private:
  std::size_t count_ahead(char candidate) const {
    std::size_t count = 0;
    bool quoted = false;
    bool cell_starts = true;  // elsewhere a quote is a mark of inches
    for (const char c : text_.substr(at_)) {
      if (c == '"' && (quoted || cell_starts)) quoted = !quoted;
      cell_starts = !quoted && (separators.find(c) != separators.npos || c == '"');
      if (quoted) continue;
      if (is_line_end(c)) break;
      if (c == candidate) ++count;
    }
    return count;
  }

  void take_line_end() {
    at_ += line_end_size(text_, at_);
    ++line_;
  }

  /// Up to the separator or line end, which stays.
  Result<std::string> take_cell(int row) {
    if (!done() && text_[at_] == '"') return take_quoted(row);
    const std::size_t start = at_;
    while (!done() && text_[at_] != separator_ && !is_line_end(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  Result<std::string> take_quoted(int row) {
    const int start_line = line_;
    std::string cell;
    ++at_;
    while (!done()) {
      const char c = text_[at_];
      if (c == '"' && !text_.substr(at_).starts_with("\"\"")) {
        ++at_;
        return take_after_quote(row, std::move(cell));
      }
      if (c == '"') {
        cell += c;
        at_ += 2;
      } else if (is_line_end(c)) {
        cell += text_.substr(at_, line_end_size(text_, at_));
        take_line_end();
      } else {
        cell += c;
        ++at_;
      }
    }
    return make_error(Code::invalid, "row " + std::to_string(row) + ": the quote opened on line " +
                                         std::to_string(start_line) + " is never closed");
  }

  Result<std::string> take_after_quote(int row, std::string cell) {
    while (!done() && text_[at_] == ' ' && separator_ != ' ') ++at_;
    if (done() || text_[at_] == separator_ || is_line_end(text_[at_])) return cell;
    return make_error(Code::invalid, "row " + std::to_string(row) + ": text after a closing quote")
        .with_remedy("write a quote inside a quoted cell twice");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  char separator_ = ',';
  bool separator_is_known_ = false;
};

bool is_blank_row(const CsvRow& row) {
  return std::all_of(row.cells.begin(), row.cells.end(), is_blank);
}

/// A cell that render_csv would guard, with any number of apostrophes in front.
bool looks_like_formula(std::string_view cell) {
  const auto first = cell.find_first_not_of('\'');
  return first != cell.npos && formula_starts.find(cell[first]) != formula_starts.npos;
}

bool is_negative_number(std::string_view cell) {
  if (cell.size() < 2 || cell[0] != '-') return false;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto body = cell.substr(1);
  return digit(body.front()) && digit(body.back()) &&
         std::count(body.begin(), body.end(), '.') <= 1 &&
         std::all_of(body.begin(), body.end(), [&](char c) { return digit(c) || c == '.'; });
}

std::string from_latin1(std::string_view cell) {
  std::string out;
  for (const char c : cell) append_utf8(out, static_cast<unsigned char>(c));
  return out;
}

void clean(CsvRow& row, std::vector<CsvNotice>& notices) {
  int column = 0;
  for (auto& cell : row.cells) {
    ++column;
    if (cell.starts_with('\'') && looks_like_formula(cell)) cell.erase(0, 1);
    if (!find_invalid_utf8(cell)) continue;
    notices.push_back({row.row, column, "not UTF-8, read as Latin-1"});
    cell = from_latin1(cell);
  }
}

void drop_blank_tail(std::vector<std::string>& cells, std::size_t size_min) {
  while (cells.size() > size_min && is_blank(cells.back())) cells.pop_back();
}

/// Rows as wide as the header, blank cells beyond it gone, others noted.
void fit_to_header(CsvTable& table) {
  for (auto& row : table.rows) {
    drop_blank_tail(row.cells, table.header.size());
    for (std::size_t i = table.header.size(); i < row.cells.size(); ++i) {
      if (is_blank(row.cells[i])) continue;
      table.notices.push_back({row.row, static_cast<int>(i) + 1, "cell beyond the last heading"});
    }
    row.cells.resize(std::max(row.cells.size(), table.header.size()));
  }
}

Result<> refuse_other_encodings(std::string_view text) {
  const bool utf16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  if (!utf16 && text.find('\0') == text.npos) return {};
  return make_error(Code::invalid, "not a CSV text: zero bytes or UTF-16")
      .with_remedy("save the sheet as \"CSV UTF-8\"");
}

std::string quote(std::string_view cell, std::string_view special) {
  std::string out;
  if (looks_like_formula(cell) && !is_negative_number(cell)) out += '\'';
  out += cell;
  if (out.find_first_of(special) == out.npos) return out;
  std::string quoted = "\"";
  for (const char c : out) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

/// `special`: what makes quotes needed.
std::string render_row(const std::vector<std::string>& cells, std::string_view special) {
  std::vector<std::string> parts;
  for (const auto& cell : cells) parts.push_back(quote(cell, special));
  // A bare line end would read as no row at all.
  if (parts.size() == 1 && parts[0].empty()) parts[0] = "\"\"";
  return join(parts, ",") + "\n";
}

}  // namespace

Result<CsvTable> parse_csv(std::string_view text) {
  TRY_VOID(refuse_other_encodings(text));
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Reader reader(text);
  reader.take_separator_line();
  CsvTable table;
  while (!reader.done()) {
    if (table.header.empty()) reader.detect_separator();
    CsvRow record = TRY(reader.take_record());
    if (is_blank_row(record)) continue;
    clean(record, table.notices);
    if (table.header.empty()) {
      table.header_row = record.row;
      table.header = std::move(record.cells);
      drop_blank_tail(table.header, 0);
    } else {
      table.rows.push_back(std::move(record));
    }
  }
  if (table.header.empty()) return make_error(Code::invalid, "the sheet has no heading row");
  table.separator = reader.separator();
  fit_to_header(table);
  return table;
}

std::string render_csv(const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows) {
  // What could mislead the detection at the next reading is quoted: other separators, "sep=" and
  // the first byte of a byte order mark.
  std::string out = render_row(header, ",;\t\"\r\n=\xef");
  for (const auto& row : rows) out += render_row(row, ",\"\r\n");
  return out;
}

}  // namespace tundish
