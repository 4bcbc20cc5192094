//! TLS, as libnbd's clients speak it, with certificates that openssl makes; where both are installed.

use crate::client::{answer, greeted};
use crate::clients::{run, there};
use crate::support::{Served, spec};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use wordline_live::{Certificates, Encryption, ServeSpec};

const STARTTLS: u32 = 5;
const LIST: u32 = 3;
const ACK: u32 = 1;
const ERR_POLICY: u32 = 1 << 31 | 2;
const ERR_INVALID: u32 = 1 << 31 | 3;
const ERR_TLS_REQD: u32 = 1 << 31 | 5;

fn has_openssl() -> bool {
    let found = Command::new("openssl").arg("version").output().is_ok_and(|o| o.status.success());
    if !found {
        println!("openssl is not installed: not tried");
    }
    found
}

/// An authority, a server and a client that it has signed, and a client that it has not.
fn certify(folder: &Path) {
    let new =
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=wordline"];
    let authority = |key: &str, certificate: &str| {
        let own = ["req", "-x509", "-days", "3650", "-keyout", key, "-out", certificate];
        run("openssl", &[&own[..], &new[..]].concat(), folder);
    };
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").unwrap();
    let signed = |name: &str, key: &str, certificate: &str| {
        let (key, to) = (format!("{name}-key.pem"), (key, certificate));
        run("openssl", &[&["req", "-keyout", &key, "-out", "asked"], &new[..]].concat(), folder);
        let sign = ["x509", "-req", "-in", "asked", "-CAkey", to.0, "-CA", to.1, "-CAcreateserial"];
        let out = format!("{name}-cert.pem");
        run("openssl", &[&sign[..], &["-days", "3650", "-extfile", "names", "-out", &out]].concat(), folder);
    };
    authority("ca-key.pem", "ca-cert.pem");
    authority("other-key.pem", "other-cert.pem");
    signed("server", "ca-key.pem", "ca-cert.pem");
    signed("client", "ca-key.pem", "ca-cert.pem");
    for (folder_of, key, certificate) in [("stranger", "other-key.pem", "other-cert.pem"), ("nobody", "", "")]
    {
        std::fs::create_dir(folder.join(folder_of)).unwrap();
        std::fs::copy(folder.join("ca-cert.pem"), folder.join(folder_of).join("ca-cert.pem")).unwrap();
        if !key.is_empty() {
            signed(&format!("{folder_of}/client"), key, certificate);
        }
    }
}

/// A drive that is served with TLS.
fn served(encryption: Encryption, folder: &Path, verifies: bool) -> Served {
    let certificates = Certificates::load(folder, verifies).unwrap_or_else(|e| panic!("{e}"));
    Served::new(ServeSpec { encryption, certificates: Some(certificates), ..spec("conventional", "0") })
}

/// The address for a client with the certificates of a folder.
fn uri(served: &Served, folder: &Path) -> String {
    format!("{}&tls-certificates={}", served.uri().replacen("nbd", "nbds", 1), folder.display())
}

fn connects(uri: &str) -> bool {
    Command::new("nbdinfo").args(["--size", uri]).output().unwrap().status.success()
}

/// What a client in the clear hears of an option with some data.
fn ask(stream: &mut std::os::unix::net::UnixStream, option: u32, data: &[u8]) -> u32 {
    let asked = [b"IHAVEOPT", &option.to_be_bytes()[..], &(data.len() as u32).to_be_bytes(), data];
    stream.write_all(&asked.concat()).unwrap();
    answer(stream).unwrap().0
}

#[test]
fn a_server_without_tls_refuses_it_and_goes_on() {
    let served = Served::new(spec("conventional", "0"));
    let mut stream = greeted(&served.socket());
    assert_eq!(ask(&mut stream, STARTTLS, &[]), ERR_POLICY);
    assert_ne!(ask(&mut stream, LIST, &[]), ERR_POLICY);
}

#[test]
fn nothing_is_told_without_tls_where_it_is_required() {
    if !has_openssl() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let strict = served(Encryption::Require, folder.path(), false);
    let mut stream = greeted(&strict.socket());
    assert_eq!(ask(&mut stream, LIST, &[]), ERR_TLS_REQD);
    assert_eq!(ask(&mut stream, 7, &[0; 6]), ERR_TLS_REQD);
    assert_eq!(ask(&mut stream, STARTTLS, &[1]), ERR_INVALID);
    assert_eq!(ask(&mut stream, STARTTLS, &[]), ACK);
    // What is sent in the clear behind that is not taken for an option.
    let _ = stream.write_all(b"IHAVEOPT\0\0\0\x03\0\0\0\0");
    assert!(answer(&mut stream).is_err());
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !strict.log().iter().any(|line| line.contains("TLS")) {
        assert!(std::time::Instant::now() < until, "{:?}", strict.log());
        std::thread::yield_now();
    }
}

#[test]
fn a_copy_over_tls_comes_back_on_several_connections() {
    if !has_openssl() || !there("nbdcopy") || !there("nbdinfo") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    certify(at);
    let strict = served(Encryption::Require, at, false);
    let image: Vec<u8> = (0..24_000_000u64).map(|i| ((i * i) >> 9) as u8).collect();
    std::fs::write(at.join("in"), &image).unwrap();
    let uri = uri(&strict, at);
    run("nbdcopy", &["--connections=4", "in", &uri], at);
    run("nbdcopy", &["--connections=4", &uri, "out"], at);
    let out = std::fs::read(at.join("out")).unwrap();
    assert!(out[..image.len()] == image[..] && out[image.len()..].iter().all(|b| *b == 0));
    assert!(!connects(&strict.uri()), "in the clear");
    // A server that leaves it to the client takes both.
    let either = served(Encryption::On, at, false);
    assert!(connects(&either.uri()) && connects(&self::uri(&either, at)));
}

#[test]
fn clients_are_known_by_their_certificates() {
    if !has_openssl() || !there("nbdinfo") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let verifies = served(Encryption::Require, folder.path(), true);
    let as_client = |name: &str| connects(&uri(&verifies, &folder.path().join(name)));
    assert!(as_client(""), "{:?}", verifies.log());
    assert!(!as_client("stranger") && !as_client("nobody"));
    let log = verifies.log().join("\n");
    assert!(log.contains("TLS: ") && log.contains("ertificate"), "{log}");
}

#[test]
fn files_that_are_no_certificates_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let says = |verifies: bool, words: &[&str]| {
        let said = Certificates::load(at, verifies).err().unwrap().to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    says(false, &["server-cert.pem", "cannot be read", "allowed: a folder with server-cert.pem"]);
    std::fs::write(at.join("server-cert.pem"), "no certificate").unwrap();
    says(false, &["server-cert.pem", "contains no certificate", "allowed: an unencrypted PEM file"]);
    if !has_openssl() {
        return;
    }
    std::fs::remove_file(at.join("server-cert.pem")).unwrap();
    certify(at);
    std::fs::copy(at.join("client-key.pem"), at.join("server-key.pem")).unwrap();
    says(
        false,
        &["server-cert.pem", "allowed: a certificate of X.509 version 3 for the key in server-key.pem"],
    );
    run("openssl", &["genrsa", "-out", "server-key.pem", "2432"], at);
    says(false, &["server-key.pem", "allowed: RSA of 2048, 3072 or 4096 bits, ECDSA"]);
    std::fs::remove_file(at.join("ca-cert.pem")).unwrap();
    says(true, &["ca-cert.pem", "cannot be read"]);
}
