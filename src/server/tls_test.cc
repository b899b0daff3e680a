#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <thread>

#include "server/test_site.h"

namespace smartmig {
namespace {

using namespace std::chrono_literals;

// A key, and a certificate for 127.0.0.1 that it signed itself.
class Identity {
 public:
  explicit Identity(EVP_PKEY* key = EVP_EC_gen("P-256"), int serial = 1)
      : key_(key), certificate_(X509_new()) {
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_), serial);
    X509_set_version(certificate_, 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate_), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate_), 3600);
    X509_set_pubkey(certificate_, key_);
    X509_NAME* name = X509_get_subject_name(certificate_);
    const auto* host = reinterpret_cast<const unsigned char*>("127.0.0.1");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0);
    X509_set_issuer_name(certificate_, name);
    X509_EXTENSION* names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(certificate_, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(certificate_, key_, EVP_sha256());
  }
  ~Identity() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  std::string certificate_text() const {
    return text([&](BIO* out) { PEM_write_bio_X509(out, certificate_); });
  }
  std::string key_text() const {
    return text([&](BIO* out) {
      PEM_write_bio_PrivateKey(out, key_, nullptr, nullptr, 0, nullptr, nullptr);
    });
  }

 private:
  template <class Write>
  static std::string text(const Write& write) {
    BIO* out = BIO_new(BIO_s_mem());
    write(out);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out, &bytes);
    std::string copy(bytes, static_cast<std::size_t>(size));
    BIO_free(out);
    return copy;
  }
  EVP_PKEY* key_;
  X509* certificate_;
};

struct TlsFiles {
  TempFolder folder;
  Identity identity;
  std::string certificate = folder.write("cert.pem", identity.certificate_text());
  std::string key = folder.write("key.pem", identity.key_text());
};

ServerOptions tls_options(const TlsFiles& files) {
  ServerOptions options;
  options.simulated = false;
  options.tls_certificate_file = files.certificate;
  options.tls_key_file = files.key;
  return options;
}

std::unique_ptr<httplib::SSLClient> tls_client(const TlsFiles& files, int port) {
  auto client = std::make_unique<httplib::SSLClient>("127.0.0.1", port);
  client->set_ca_cert_path(files.certificate);
  client->enable_server_certificate_verification(true);
  return client;
}

TEST(Tls, ServesWhatIsNotSimulatedWithTokens) {
  const TlsFiles files;
  TestSite site(TestSite::WithTokens{}, tls_options(files));
  const auto client = tls_client(files, site.port());
  EXPECT_EQ(TestSite::call_by(*client, "GET", "/api/v1/fleet").status, 401);
  const Reply fleet =
      TestSite::call_by(*client, "GET", "/api/v1/fleet", "", TestSite::with(kReadToken));
  EXPECT_EQ(fleet.status, 200);
  EXPECT_EQ(fleet.json().at("gpus").size(), 2u);
  const Reply opened =
      TestSite::call_by(*client, "POST", "/session", "{}", TestSite::with(kReadToken));
  EXPECT_NE(opened.header("Set-Cookie").find("; Secure"), std::string::npos);
  // The scheme is part of the origin.
  auto plain = TestSite::with(kOperateToken);
  plain.emplace("Origin", fmt::format("http://127.0.0.1:{}", site.port()));
  EXPECT_EQ(TestSite::call_by(*client, "POST", "/api/v1/freeze", "{}", plain).status, 403);
  auto own = TestSite::with(kOperateToken);
  own.emplace("Origin", fmt::format("https://127.0.0.1:{}", site.port()));
  EXPECT_EQ(TestSite::call_by(*client, "POST", "/api/v1/freeze", "{}", own).status, 200);
}

TEST(Tls, CarriesLargeAnswersAndStreams) {
  const TlsFiles files;
  TestSite site(TestSite::WithTokens{}, tls_options(files));
  for (int i = 2; i < 3000; ++i) site.backend.fleet_.gpus.push_back(FakeBackend::example_gpu(i));
  const auto client = tls_client(files, site.port());
  const Reply fleet =
      TestSite::call_by(*client, "GET", "/api/v1/fleet", "", TestSite::with(kReadToken));
  EXPECT_GT(fleet.body.size(), 1'500'000u);
  EXPECT_EQ(fleet.json().at("gpus").size(), 3000u);
  std::string got;
  std::thread notifier([&] {
    for (int i = 0; i < 200; ++i) {
      site.backend.notify("job", fmt::format("{{\"x\":\"{}\"}}", std::string(10'000, 'x')));
      std::this_thread::sleep_for(5ms);
    }
    site.backend.notify("job", "{\"last\":1}");
  });
  client->Get("/api/v1/events", TestSite::with(kReadToken), [&](const char* data, size_t size) {
    got.append(data, size);
    return got.find("\"last\"") == std::string::npos;
  });
  notifier.join();
  EXPECT_NE(got.find("\"last\""), std::string::npos);
}

TEST(Tls, APlainRequestGetsNothing) {
  const TlsFiles files;
  TestSite site(TestSite::WithTokens{}, tls_options(files));
  EXPECT_EQ(site.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").find("HTTP"), std::string::npos);
}

TEST(Tls, SaysWhatIsWrongWithItsFiles) {
  const TlsFiles files;
  const Identity other;
  const std::string other_key = files.folder.write("other.pem", other.key_text());
  const std::string text = files.folder.write("text.pem", "no key at all\n");
  const auto error = [](const std::string& certificate, const std::string& key) {
    const auto loaded = TlsContext::load(certificate, key);
    return loaded ? "" : loaded.error().message;
  };
  EXPECT_EQ(error(files.certificate, files.key), "");
  EXPECT_NE(error(text, files.key).find("text.pem: no certificate"), std::string::npos);
  EXPECT_NE(error(files.certificate, text).find("text.pem: no key"), std::string::npos);
  EXPECT_NE(error(files.certificate, other_key).find("other.pem"), std::string::npos);
}

TEST(Tls, RefusesAKeyThatOthersCanRead) {
  const TlsFiles files;
  const auto error = [&](unsigned mode) {
    chmod(files.key.c_str(), mode);
    const auto loaded = TlsContext::load(files.certificate, files.key);
    return loaded ? "" : loaded.error().message;
  };
  for (const unsigned mode : {0600u, 0400u, 0640u, 0440u}) EXPECT_EQ(error(mode), "") << mode;
  for (const unsigned mode : {0644u, 0604u, 0660u, 0666u, 0602u, 0700u})
    EXPECT_EQ(error(mode), fmt::format("{}: has mode {:04o}, expected 0640 or less (chmod 640 {})",
                                       files.key, mode, files.key));
}

// What a client and the server agree on, or nothing, and the serial number of the certificate.
struct Handshake {
  std::string cipher;
  long serial = 0;
};
Handshake shake_hands(int port, int version, const char* ciphers) {
  signal(SIGPIPE, SIG_IGN);  // The server closes where it does not agree.
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_min_proto_version(context, version);
  SSL_CTX_set_max_proto_version(context, version);
  SSL_CTX_set_cipher_list(context, ciphers);
  BIO* connection = BIO_new_ssl_connect(context);
  BIO_set_conn_hostname(connection, fmt::format("127.0.0.1:{}", port).c_str());
  Handshake out;
  if (BIO_do_connect(connection) == 1) {
    SSL* ssl = nullptr;
    BIO_get_ssl(connection, &ssl);
    out.cipher = SSL_get_cipher_name(ssl);
    X509* certificate = SSL_get1_peer_certificate(ssl);
    out.serial = ASN1_INTEGER_get(X509_get0_serialNumber(certificate));
    X509_free(certificate);
  }
  BIO_free_all(connection);
  SSL_CTX_free(context);
  return out;
}

// With a key of RSA, which has suites without forward secrecy.
TEST(Tls, TakesNoCipherWithoutForwardSecrecy) {
  const TempFolder folder;
  const Identity identity(EVP_RSA_gen(2048));
  ServerOptions options;
  options.tls_certificate_file = folder.write("cert.pem", identity.certificate_text());
  options.tls_key_file = folder.write("key.pem", identity.key_text());
  TestSite site(TestSite::WithTokens{}, options);
  for (const char* good : {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384",
                           "ECDHE-RSA-CHACHA20-POLY1305"})
    EXPECT_EQ(shake_hands(site.port(), TLS1_2_VERSION, good).cipher, good);
  for (const char* bad :
       {"AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA256",
        "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384", "DHE-RSA-AES128-GCM-SHA256"})
    EXPECT_EQ(shake_hands(site.port(), TLS1_2_VERSION, bad).cipher, "") << bad;
  EXPECT_TRUE(shake_hands(site.port(), TLS1_3_VERSION, "ALL").cipher.starts_with("TLS_"));
  EXPECT_EQ(shake_hands(site.port(), TLS1_1_VERSION, "ALL:@SECLEVEL=0").cipher, "");
}

TEST(Tls, ReadsTheCertificateAgainAndKeepsTheOldOneWhereTheNewIsBad) {
  const TlsFiles files;
  TestSite site(TestSite::WithTokens{}, tls_options(files));
  const auto serial = [&] { return shake_hands(site.port(), TLS1_3_VERSION, "ALL").serial; };
  const auto client = tls_client(files, site.port());
  client->set_keep_alive(true);
  EXPECT_EQ(TestSite::call_by(*client, "GET", "/healthz").status, 200);
  EXPECT_EQ(serial(), 1);
  // A certificate whose key is still the old one.
  const Identity fresh(EVP_EC_gen("P-256"), 2);
  files.folder.write("cert.pem", fresh.certificate_text());
  site.server->reload_certificate();
  EXPECT_EQ(serial(), 1);
  ASSERT_FALSE(site.lines().empty());
  EXPECT_TRUE(site.lines().back().starts_with("the certificate stays as it was: " + files.key))
      << site.lines().back();
  files.folder.write("key.pem", fresh.key_text());
  site.server->reload_certificate();
  EXPECT_EQ(serial(), 2);
  EXPECT_EQ(site.lines().back(), "certificate read again from " + files.certificate);
  // A connection that was open stays so.
  EXPECT_EQ(TestSite::call_by(*client, "GET", "/healthz").status, 200);
}

}  // namespace
}  // namespace smartmig
