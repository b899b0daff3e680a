#include "server/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "server/private_file.h"

namespace smartmig {
namespace {

// What OpenSSL says of the last error, without its numbers.
std::string tls_error() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code ? ERR_reason_error_string(code) : nullptr;
  ERR_clear_error();
  return reason ? reason : "unknown reason";
}

// The key of the certificate that the context has.
Result<void> use_key(SSL_CTX* context, const std::string& key_file) {
  auto text = read_private_file(key_file, ReadableBy::kGroup);
  if (!text) return pass_on(text);
  BIO* memory = BIO_new_mem_buf(text->data(), static_cast<int>(text->size()));
  // A key with a passphrase is refused: a service has no user who could type it.
  constexpr auto kNoPassphrase = [](char*, int, int, void*) { return 0; };
  EVP_PKEY* key = PEM_read_bio_PrivateKey(memory, nullptr, kNoPassphrase, nullptr);
  BIO_free(memory);
  OPENSSL_cleanse(text->data(), text->size());
  const bool used = key && SSL_CTX_use_PrivateKey(context, key) == 1;
  EVP_PKEY_free(key);
  if (!used)
    return fail("{}: no key of that certificate can be read from it: {}", key_file, tls_error());
  return {};
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::load(const std::string& certificate_file,
                                                     const std::string& key_file) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  SM_CHECK(context != nullptr);
  std::shared_ptr<TlsContext> out(new TlsContext(context));
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // A recorded connection must stay unreadable when the key is stolen later: of TLS 1.2 only what
  // has forward secrecy and authenticated encryption. All of TLS 1.3 has both.
  SM_CHECK(SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1);
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1)
    return fail("{}: no certificate in PEM can be read from it: {}", certificate_file, tls_error());
  if (auto done = use_key(context, key_file); !done) return pass_on(done);
  return out;
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

Connection::Connection(int socket, Peer peer, const std::shared_ptr<TlsContext>& tls)
    : socket_(socket), peer_(std::move(peer)), tls_(tls) {
  if (!tls_) return;
  ssl_ = SSL_new(tls_->get());
  SM_CHECK(ssl_ != nullptr && SSL_set_fd(ssl_, socket_) == 1);
  SSL_set_accept_state(ssl_);
}

Connection::~Connection() {
  SSL_free(ssl_);
  ::close(socket_);
}

bool Connection::wait(short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd item{socket_, events, 0};
    const int ready = poll(&item, 1, static_cast<int>(std::min<long>(left, 3'600'000)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// Bytes, 0 at the end, -1 where it failed; where it would block -1 and `wanted` says for what.
long Connection::raw_read(char* to, std::size_t size, short& wanted) {
  wanted = 0;
  if (!ssl_) {
    const ssize_t got = recv(socket_, to, size, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) wanted = POLLIN;
    return got;
  }
  ERR_clear_error();
  const int got = SSL_read(ssl_, to, static_cast<int>(std::min<std::size_t>(size, 1 << 20)));
  if (got > 0) return got;
  const int error = SSL_get_error(ssl_, got);
  if (error == SSL_ERROR_WANT_READ) wanted = POLLIN;
  if (error == SSL_ERROR_WANT_WRITE) wanted = POLLOUT;
  return error == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

long Connection::raw_write(const char* from, std::size_t size, short& wanted) {
  wanted = 0;
  if (!ssl_) {
    const ssize_t put = send(socket_, from, size, MSG_NOSIGNAL);
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) wanted = POLLOUT;
    return put;
  }
  ERR_clear_error();
  const int put = SSL_write(ssl_, from, static_cast<int>(std::min<std::size_t>(size, 1 << 20)));
  if (put > 0) return put;
  const int error = SSL_get_error(ssl_, put);
  if (error == SSL_ERROR_WANT_READ) wanted = POLLIN;
  if (error == SSL_ERROR_WANT_WRITE) wanted = POLLOUT;
  return -1;
}

bool Connection::handshake(Clock::time_point deadline) {
  if (!ssl_) return true;
  for (;;) {
    ERR_clear_error();
    const int done = SSL_accept(ssl_);
    if (done == 1) return true;
    const int error = SSL_get_error(ssl_, done);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
    if (!wait(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline)) return false;
  }
}

std::size_t Connection::read_some(std::string& out, std::size_t most, Clock::time_point deadline) {
  char buffer[8192];
  for (;;) {
    short wanted = 0;
    const long got = raw_read(buffer, std::min(most, sizeof buffer), wanted);
    if (got > 0) {
      out.append(buffer, static_cast<std::size_t>(got));
      return static_cast<std::size_t>(got);
    }
    if (wanted == 0 || !wait(wanted, deadline)) return 0;
  }
}

void Connection::acknowledge() {
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

bool Connection::write_all(std::string_view bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    short wanted = 0;
    const long put = raw_write(bytes.data(), bytes.size(), wanted);
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (wanted == 0 || !wait(wanted, deadline)) {
      return false;
    }
  }
  return true;
}

Connection::Written Connection::write_some(std::string_view bytes) {
  Written written;
  while (written.bytes < bytes.size()) {
    short wanted = 0;
    const long put = raw_write(bytes.data() + written.bytes, bytes.size() - written.bytes, wanted);
    if (put > 0) {
      written.bytes += static_cast<std::size_t>(put);
      continue;
    }
    written.broken = wanted == 0;
    break;
  }
  return written;
}

void Connection::finish() {
  if (ssl_) {
    ERR_clear_error();
    SSL_shutdown(ssl_);
  }
  shutdown(socket_, SHUT_WR);
  constexpr int kMostBytes = 256 * 1024;
  const auto deadline = Clock::now() + std::chrono::milliseconds(500);
  char buffer[4096];
  for (int taken = 0; taken < kMostBytes && wait(POLLIN, deadline);) {
    const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    taken += static_cast<int>(got);
  }
}

}  // namespace smartmig
