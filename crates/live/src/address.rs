//! Address of a served drive, and its syntax.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;
use wordline_units::io_reason;

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
            format!(
                "{text:?}: {why}\n  allowed: PORT on the loopback or HOST:PORT, as in 127.0.0.1:10809; a port \
                 is a number from 1 to 65535, and 0 stands for any free one"
            )
        };
        let (host, port) = text.rsplit_once(':').unwrap_or(("127.0.0.1", text));
        if port.parse::<u16>().is_err() {
            return Err(wrong(&format!("{port:?} is not a port")));
        }
        if host.is_empty() {
            return Err(wrong("the host is missing"));
        }
        let mut found = format!("{host}:{port}")
            .to_socket_addrs()
            .map_err(|e| wrong(&format!("the host {host:?} is unknown ({})", io_reason(&e))))?;
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
                 unix:/tmp/d.sock; `serve --tcp` takes HOST:PORT"
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
        for (bad, why) in [
            ("99999", "\"99999\" is not a port"),
            ("10.0.0.1:99999", "\"99999\" is not a port"),
            ("localhost", "\"localhost\" is not a port"),
            (":10809", "the host is missing"),
            ("no host:1", "the host \"no host\" is unknown"),
        ] {
            let said = Address::tcp(bad).unwrap_err();
            assert!(said.contains(why) && said.contains("from 1 to 65535"), "{said}");
        }
    }
}
