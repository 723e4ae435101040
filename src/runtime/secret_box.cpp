#include "runtime/secret_box.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.hpp"
#include "base/text.hpp"
#include "runtime/process/fd.hpp"

namespace tundish {
namespace {

static_assert(crypto_secretbox_KEYBYTES == 32);

unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Error key_error(const std::string& what, const std::string& path) {
  const Code code = errno == ENOSPC ? Code::exhausted : Code::unavailable;
  return make_error(code, what + " key file " + path + ": " + std::strerror(errno))
      .with_remedy("check its folder, owner and rights");
}

/// Written under another name and linked: the key file is absent or whole, and of two programs
/// that start at once one makes it and both use it.
Result<> create_key_file(const std::string& path) {
  std::string partial = path + ".partial.XXXXXX";
  const process::Fd file(::mkostemp(partial.data(), O_CLOEXEC));
  if (!file) return key_error("cannot create", path);
  std::string key(crypto_secretbox_KEYBYTES, '\0');
  randombytes_buf(key.data(), key.size());
  const bool written = ::write(file.get(), key.data(), key.size()) == ssize_t(key.size()) &&
                       ::fsync(file.get()) == 0;
  sodium_memzero(key.data(), key.size());
  Result<> done;
  if (!written) {
    done = key_error("cannot write", path);
  } else if (::link(partial.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    done = key_error("cannot create", path);
  }
  ::unlink(partial.c_str());
  if (!done) return done;
  const auto slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  const process::Fd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0) return key_error("cannot sync", path);
  return {};
}

Result<> check_rights(int file, const std::string& path) {
  struct stat info = {};
  if (::fstat(file, &info) != 0) return key_error("cannot look at", path);
  if ((info.st_mode & 077) != 0) {
    return make_error(Code::denied, "key file " + path + " is open to others")
        .with_remedy("chmod 600 " + path + ", and change the secrets if others could read it");
  }
  const bool is_own = info.st_uid == ::geteuid() || info.st_uid == 0;
  if (!is_own) {
    return make_error(Code::denied, "key file " + path + " belongs to another user")
        .with_remedy("chown it to the user that runs this program");
  }
  return {};
}

}  // namespace

Result<SecretBox> SecretBox::open(const std::string& key_file) {
  check(sodium_init() >= 0, "libsodium must find the kernel's randomness");
  if (::access(key_file.c_str(), F_OK) != 0) TRY_VOID(create_key_file(key_file));
  const process::Fd file(::open(key_file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return key_error("cannot open", key_file);
  TRY_VOID(check_rights(file.get(), key_file));
  std::array<unsigned char, 33> content = {};  // one more than a key, so that a longer file shows
  const ssize_t size = ::read(file.get(), content.data(), content.size());
  if (size != static_cast<ssize_t>(Key().size())) {
    return make_error(Code::corrupt, "key file " + key_file + " does not hold 32 bytes")
        .with_remedy("put back the right key; with another one the stored secrets are lost");
  }
  SecretBox box;
  std::memcpy(box.key_.data(), content.data(), box.key_.size());
  sodium_memzero(content.data(), content.size());
  return box;
}

SecretBox::SecretBox(SecretBox&& other) noexcept : key_(other.key_) {
  sodium_memzero(other.key_.data(), other.key_.size());
}

SecretBox& SecretBox::operator=(SecretBox&& other) noexcept {
  std::swap(key_, other.key_);
  return *this;
}

SecretBox::~SecretBox() { sodium_memzero(key_.data(), key_.size()); }

std::string SecretBox::seal(std::string_view clear) const {
  std::string sealed(crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + clear.size(), '\0');
  unsigned char* nonce = bytes_of(sealed);
  randombytes_buf(nonce, crypto_secretbox_NONCEBYTES);
  crypto_secretbox_easy(nonce + crypto_secretbox_NONCEBYTES, bytes_of(clear), clear.size(), nonce,
                        key_.data());
  return render_hex(sealed);
}

Result<std::string> SecretBox::unseal(const std::string& sealed) const {
  constexpr std::size_t overhead = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
  std::string bytes(sealed.size() / 2, '\0');
  std::size_t used = 0;
  const char* end = nullptr;
  const bool is_hex = sodium_hex2bin(bytes_of(bytes), bytes.size(), sealed.data(), sealed.size(),
                                     nullptr, &used, &end) == 0 &&
                      used == bytes.size() && end == sealed.data() + sealed.size();
  if (is_hex && bytes.size() >= overhead) {
    const unsigned char* nonce = bytes_of(bytes);
    std::string clear(bytes.size() - overhead, '\0');
    if (crypto_secretbox_open_easy(bytes_of(clear), nonce + crypto_secretbox_NONCEBYTES,
                                   bytes.size() - crypto_secretbox_NONCEBYTES, nonce,
                                   key_.data()) == 0) {
      return clear;
    }
  }
  return make_error(Code::corrupt, "a sealed secret does not open with this key")
      .with_remedy("put back the key file it was sealed with, or store the secret anew");
}

std::string hash_token(std::string_view token) {
  std::string digest(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(bytes_of(digest), bytes_of(token), token.size());
  return render_hex(digest);
}

std::uint64_t KernelRandom::next() {
  std::uint64_t value = 0;
  ssize_t size = -1;
  do {
    size = ::getrandom(&value, sizeof value, 0);
  } while (size < 0 && errno == EINTR);
  check(size == sizeof value, "the kernel must give eight random bytes");
  return value;
}

}  // namespace tundish
