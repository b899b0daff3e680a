#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <thread>

#include "server/test_site.h"

namespace smartmig {
namespace {

using namespace std::chrono_literals;

// A key, and a certificate for 127.0.0.1 that it signed itself.
class Identity {
 public:
  Identity() : key_(EVP_EC_gen("P-256")), certificate_(X509_new()) {
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_), 1);
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

}  // namespace
}  // namespace smartmig
