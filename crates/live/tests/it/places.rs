//! Where a drive is served, and who asks there: what fails leaves nothing behind, and nobody holds up the end.

use crate::support::{Served, spec};
use std::io::{Read, Write};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wordline_live::{Address, ServeSpec, Server};

fn at(addresses: &[&Path], session: Option<&Path>) -> ServeSpec {
    let addresses = addresses.iter().map(|path| Address::Unix(path.to_path_buf())).collect();
    ServeSpec { addresses, session: session.map(Path::to_path_buf), ..spec("conventional", "0") }
}

fn refused(spec: &ServeSpec) -> String {
    match Server::start(spec, Arc::new(|_| {})) {
        Ok(_) => panic!("it is served"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn server_that_cannot_start_leaves_no_socket_or_session() {
    let folder = tempfile::tempdir().unwrap();
    let [socket, session] = ["d.sock", "session"].map(|name| folder.path().join(name));
    let nowhere = folder.path().join("none/d.sock");
    assert!(
        refused(&at(&[&socket, &nowhere], Some(&session))).contains("allowed: a path of at most 107 bytes")
    );
    assert!(!socket.exists() && !session.exists());
    let server =
        Server::start(&at(&[&socket], Some(&session)), Arc::new(|_| {})).unwrap_or_else(|e| panic!("{e}"));
    server.stop().unwrap_or_else(|e| panic!("{e}"));
    assert!(!socket.exists() && session.join("report.json").exists());
    assert!(refused(&at(&[&socket], Some(&session))).contains("the folder already has a session"));
    assert!(!socket.exists());
}

#[test]
fn socket_is_replaced_only_if_nobody_listens() {
    let folder = tempfile::tempdir().unwrap();
    let [used, other, left] = ["used", "other", "left"].map(|name| folder.path().join(name));
    let (_used, _other) = (UnixListener::bind(&used).unwrap(), UnixDatagram::bind(&other).unwrap());
    drop(UnixListener::bind(&left).unwrap());
    assert!(refused(&at(&[&used], None)).contains("address already in use"));
    assert!(refused(&at(&[&other], None)).contains("cannot connect to the existing socket"));
    assert!(used.exists() && other.exists());
    let nameless = ServeSpec { control: Some("".into()), ..at(&[&left], None) };
    assert!(refused(&nameless).contains("the path is empty"));
    drop(UnixListener::bind(&left).unwrap());
    drop(Server::start(&at(&[&left], None), Arc::new(|_| {})).unwrap_or_else(|e| panic!("{e}")));
    assert!(!left.exists());
}

#[test]
fn empty_or_oversized_control_command_delays_nobody() {
    let served = Served::new(spec("conventional", "0"));
    let path = served.folder.path().join("d.ctl");
    let long = format!("snapshot {}", "a".repeat(4096 - "snapshot ".len()));
    let said = wordline_live::ask(&path, &long).unwrap_err().to_string();
    assert!(said.contains("allowed: fewer than 4096"), "{said}");
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(long.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("allowed: fewer than 4096"), "{answer}");
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"snapshot one\ntwo\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("\"snapshot\": \"one\""), "a line is one order: {answer}");
    let mut idle = UnixStream::connect(&path).unwrap();
    idle.write_all(b"sta").unwrap();
    served.ctl("stats");
    let begun = Instant::now();
    served.stop();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
