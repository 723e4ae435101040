// Runs a corpus folder through a fuzz target where libFuzzer is not there.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

bool replay(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in && !in.eof()) return false;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::error_code fault;
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], fault)) {
    if (!entry.is_regular_file()) continue;
    if (!replay(entry.path())) {
      std::fprintf(stderr, "cannot read %s\n", entry.path().c_str());
      return 1;
    }
    ++inputs;
  }
  if (fault || inputs == 0) {
    std::fprintf(stderr, "no inputs in %s\n", argv[1]);
    return 1;
  }
  std::printf("%d inputs\n", inputs);
  return 0;
}
