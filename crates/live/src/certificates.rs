//! TLS by rustls: the certificates of a server, and the session of each client. Nothing here blocks: data
//! that the socket does not accept stay in the session until it does.

use crate::error::ServeError;
use crate::lock;
use crate::stream::Stream;
use rustix::io::Errno;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// File names in a folder of certificates, as other NBD servers and clients use them.
const CA: &str = "ca-cert.pem";
const CRL: &str = "ca-crl.pem";
const CERTIFICATE: &str = "server-cert.pem";
const KEY: &str = "server-key.pem";

/// Maximum number of encrypted bytes that wait to be sent.
const WAITING: usize = 256 << 10;

/// The server's certificate and key, and which clients it accepts.
#[derive(Clone)]
pub struct Certificates(Arc<ServerConfig>);

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificates")
    }
}

/// The TLS session of a connection.
pub(crate) struct Session(Mutex<ServerConnection>);

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
}

/// A folder of certificates from which files are read.
struct Files<'a>(&'a Path);

impl Files<'_> {
    fn wrong(&self, file: &str, what: &dyn fmt::Display, allowed: &str) -> ServeError {
        let path = self.0.join(file);
        ServeError::Input(format!("--tls-certificates: {}: {what}\n  allowed: {allowed}", path.display()))
    }

    /// All items of a kind in a file. A file with none is an error.
    fn all<T: PemObject>(&self, file: &str, kind: &str) -> Result<Vec<T>, ServeError> {
        let allowed = format!("an unencrypted PEM file with a {kind}");
        let bytes = std::fs::read(self.0.join(file)).map_err(|e| {
            self.wrong(
                file,
                &format!("cannot be read: {e}"),
                &format!("a folder with {CERTIFICATE} and {KEY}, and with --tls-verify-peer {CA}"),
            )
        })?;
        let found: Result<Vec<T>, _> = T::pem_slice_iter(&bytes).collect();
        let found = found.map_err(|e| self.wrong(file, &e, &allowed))?;
        if found.is_empty() {
            Err(self.wrong(file, &format!("contains no {kind}"), &allowed))
        } else {
            Ok(found)
        }
    }
}

impl Certificates {
    /// Load the certificates of a folder. With `verifies`, a client must have a certificate signed by the
    /// folder's authority.
    ///
    /// # Errors
    /// If a file cannot be read or has the wrong content.
    pub fn load(folder: &Path, verifies: bool) -> Result<Certificates, ServeError> {
        let files = Files(folder);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let chain = files.all::<CertificateDer<'static>>(CERTIFICATE, "certificate")?;
        let mut keys = files.all::<PrivateKeyDer<'static>>(KEY, "private key")?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|e| ServeError::Machine(format!("TLS: {e}")))?;
        let builder = if verifies {
            let mut roots = RootCertStore::empty();
            for root in files.all::<CertificateDer<'static>>(CA, "certificate")? {
                roots.add(root).map_err(|e| files.wrong(CA, &e, "a certificate of X.509 version 3"))?;
            }
            let mut verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
            if folder.join(CRL).exists() {
                let lists = files.all::<CertificateRevocationListDer<'static>>(CRL, "revocation list")?;
                verifier = verifier.with_crls(lists).allow_unknown_revocation_status();
            }
            let verifier = verifier
                .build()
                .map_err(|e| files.wrong(CA, &e, "certificates of a certificate authority"))?;
            builder.with_client_cert_verifier(verifier)
        } else {
            builder.with_no_client_auth()
        };
        let key = keys.swap_remove(0);
        if let Err(e) = provider.key_provider.load_private_key(key.clone_key()) {
            let allowed = "RSA of 2048, 3072 or 4096 bits, ECDSA with P-256 or P-384, Ed25519";
            return Err(files.wrong(KEY, &e, allowed));
        }
        let config = builder.with_single_cert(chain, key).map_err(|e| {
            files.wrong(CERTIFICATE, &e, &format!("a certificate of X.509 version 3 for the key in {KEY}"))
        })?;
        Ok(Certificates(Arc::new(config)))
    }

    /// Start a session with a new client.
    pub(crate) fn begin(&self) -> io::Result<Session> {
        let mut connection = ServerConnection::new(Arc::clone(&self.0)).map_err(io::Error::other)?;
        connection.set_buffer_limit(Some(WAITING));
        Ok(Session(Mutex::new(connection)))
    }
}

/// A socket, read and written without blocking.
struct Ready<'a>(&'a Stream);

impl Read for Ready<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(&mut [IoSliceMut::new(into)])?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }
}

impl Write for Ready<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(self.0.send(parts)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Send encrypted bytes. Returns whether all have been sent.
fn flush(session: &mut ServerConnection, socket: &Stream) -> io::Result<bool> {
    while session.wants_write() {
        match session.write_tls(&mut Ready(socket)) {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(e) => return Err(e),
        }
    }
    Ok(true)
}

impl Session {
    /// Read received data. Returns nothing if the socket would block, and 0 bytes if the client has
    /// disconnected.
    pub(crate) fn try_read(&self, socket: &Stream, into: &mut [IoSliceMut<'_>]) -> io::Result<Option<usize>> {
        let mut session = lock(&self.0);
        let Some(room) = into.iter_mut().find(|room| !room.is_empty()) else { return Ok(Some(0)) };
        loop {
            match session.reader().read(room) {
                Ok(read) => return Ok(Some(read)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                // Many clients close the connection without a message of the TLS protocol.
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(0)),
                Err(e) => return Err(e),
            }
            match session.read_tls(&mut Ready(socket)) {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(e) => return Err(e),
            }
            let processed = session.process_new_packets();
            // An alert tells the client what is wrong.
            let flushed = flush(&mut session, socket);
            processed.map_err(|e| io::Error::new(io::ErrorKind::InvalidData, format!("TLS: {e}")))?;
            flushed?;
        }
    }

    /// Encrypt and send parts, as far as there is room. Returns the number of bytes accepted.
    pub(crate) fn send(&self, socket: &Stream, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
        let mut session = lock(&self.0);
        let failed = |e: &io::Error| Errno::from_io_error(e).unwrap_or(Errno::IO);
        if !flush(&mut session, socket).map_err(|e| failed(&e))? {
            return Err(Errno::AGAIN);
        }
        let mut taken = 0;
        for part in parts {
            let n = session.writer().write(part).map_err(|e| failed(&e))?;
            taken += n;
            if n < part.len() {
                break;
            }
        }
        flush(&mut session, socket).map_err(|e| failed(&e))?;
        Ok(taken)
    }

    /// Send encrypted bytes. Returns whether all have been sent.
    pub(crate) fn flush(&self, socket: &Stream) -> io::Result<bool> {
        flush(&mut lock(&self.0), socket)
    }

    /// Tell the client that the server sends nothing more.
    pub(crate) fn close(&self, socket: &Stream) {
        let mut session = lock(&self.0);
        session.send_close_notify();
        let _ = flush(&mut session, socket);
    }
}
