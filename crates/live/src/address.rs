//! Address of a served drive, and its syntax.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;

/// Address of a served drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A host's address and a port.
    Tcp(SocketAddr),
}

impl Address {
    /// A TCP address: `PORT` on the loopback, or `HOST:PORT`.
    ///
    /// # Errors
    /// When it is neither, or the host is unknown.
    pub fn tcp(text: &str) -> Result<Address, String> {
        let wrong = |why: &str| {
            format!("{text:?}: {why}\n  allowed: PORT on the loopback, or HOST:PORT, as in 127.0.0.1:10809")
        };
        if let Ok(port) = text.parse::<u16>() {
            return Ok(Address::Tcp(SocketAddr::from(([127, 0, 0, 1], port))));
        }
        let mut found = text.to_socket_addrs().map_err(|e| wrong(&e.to_string()))?;
        found.next().map(Address::Tcp).ok_or_else(|| wrong("unknown host"))
    }
}

impl Address {
    /// The URI for clients, of a server that requires TLS.
    pub(crate) fn uri(&self, encrypted: bool) -> String {
        let uri = self.to_string();
        if encrypted { uri.replacen("nbd", "nbds", 1) } else { uri }
    }

    /// The address as options of `wordline` and commands of a control socket spell it.
    pub fn spelled(&self) -> String {
        match self {
            Address::Unix(path) => format!("unix:{}", path.display()),
            Address::Tcp(address) => address.to_string(),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    /// `unix:PATH`.
    fn from_str(text: &str) -> Result<Address, String> {
        match text.strip_prefix("unix:") {
            Some(path) if !path.is_empty() && !path.starts_with('?') => Ok(Address::Unix(path.into())),
            _ => Err(format!(
                "{text:?} is not the address of a Unix socket\n  allowed: unix:PATH, as in \
                 unix:/tmp/d.sock; --tcp takes HOST:PORT"
            )),
        }
    }
}

impl fmt::Display for Address {
    /// The NBD URI (the protocol's document "uri.md"); characters of a path that a URI cannot contain are
    /// percent-encoded (RFC 3986).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => {
                f.write_str("nbd+unix:///?socket=")?;
                path.as_os_str().as_bytes().iter().try_for_each(|byte| match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                        write!(f, "{}", char::from(*byte))
                    }
                    _ => write!(f, "%{byte:02X}"),
                })
            }
            Address::Tcp(address) => write!(f, "nbd://{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_or_refused_with_what_is_allowed() {
        assert_eq!("unix:/tmp/d".parse(), Ok(Address::Unix("/tmp/d".into())));
        assert_eq!(
            Address::Unix("/a b/c&%#.d".into()).to_string(),
            "nbd+unix:///?socket=/a%20b/c%26%25%23.d"
        );
        assert_eq!(Address::tcp("10809").unwrap().to_string(), "nbd://127.0.0.1:10809");
        assert_eq!(Address::Unix("/nbd".into()).uri(true), "nbds+unix:///?socket=/nbd");
        assert_eq!(Address::tcp("7").unwrap().uri(true), "nbds://127.0.0.1:7");
        assert_eq!(Address::tcp("127.0.0.1:7").unwrap().to_string(), "nbd://127.0.0.1:7");
        for bad in ["", "unix:", "/tmp/d", "tcp:10809"] {
            assert!(bad.parse::<Address>().unwrap_err().contains("allowed: unix:PATH"), "{bad}");
        }
        assert!(Address::tcp("70000").unwrap_err().contains("HOST:PORT"));
    }
}
