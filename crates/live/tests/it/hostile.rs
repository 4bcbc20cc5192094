//! A client that breaks the rules loses its connection, with one line in the log, and nobody else notices.

use crate::client::{Client, READ, STATUS, WRITE, ask, greeted};
use crate::support::{Served, spec};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use wordline_live::ServeSpec;

fn request(kind: u16, length: u32) -> Vec<u8> {
    let head =
        [&0x2560_9513u32.to_be_bytes()[..], &[0; 2], &kind.to_be_bytes(), &[0; 16], &length.to_be_bytes()];
    head.concat()
}

/// Whether the server has ended a connection: all it still said is thrown away.
fn has_ended(mut stream: UnixStream) -> bool {
    let mut rest = vec![];
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(e) => e.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn misbehaving_client_loses_only_its_connection() {
    let served = Served::new(spec("conventional", "0"));
    let mut good = Client::new(&served.socket(), true);
    good.write(0, b"mine");
    let option =
        |kind: u32, length: u32| [b"IHAVEOPT", &kind.to_be_bytes()[..], &length.to_be_bytes()].concat();
    let options = [
        (b"NOTMAGIC\0\0\0\x07\0\0\0\0".to_vec(), "option that begins with"),
        (option(7, u32::MAX), "bytes of data"),
        (option(1, 5000), "bytes of data"),
        ([option(1, 3), b"abc".to_vec()].concat(), "NBD_OPT_EXPORT_NAME"),
        (option(99, 0).repeat(300), "more than 256 options"),
    ];
    let mut lines = 0;
    for (bytes, said) in options {
        let mut stream = greeted(&served.socket());
        let _ = stream.write_all(&bytes);
        assert!(has_ended(stream), "{said}");
        lines += 1;
        assert!(said_once(&served, lines, said));
    }
    let requests = [
        (vec![0; 28], "a request that begins with"),
        (request(WRITE, u32::MAX), "a write of 4294967295 bytes"),
        (request(WRITE, (128 << 20) + 1), "a write of"),
    ];
    for (bytes, said) in requests {
        let mut client = Client::new(&served.socket(), true);
        client.stream.write_all(&bytes).unwrap();
        assert!(has_ended(client.stream), "{said}");
        lines += 1;
        assert!(said_once(&served, lines, said));
    }
    assert_eq!(good.read(0, 4), b"mine");
}

/// Whether the last of so many lines says that. The line comes before the connection ends.
fn said_once(served: &Served, lines: usize, said: &str) -> bool {
    let log = served.log();
    assert!(log.len() == lines && log[lines - 1].contains(said), "{said}: {log:#?}");
    true
}

#[test]
fn connection_beyond_the_limit_is_refused_by_name() {
    let served = Served::new(ServeSpec { connections: 3, ..spec("conventional", "0") });
    let mut clients: Vec<Client> = (0..3).map(|_| Client::new(&served.socket(), true)).collect();
    assert!(has_ended(UnixStream::connect(served.socket()).unwrap()));
    let said = "refused: 3 connections are open; `wordline serve --connections N` allows more";
    assert!(said_once(&served, 1, said));
    clients[1].write(0, b"mine");
    drop(clients.pop());
    // Until the server has seen the end of the third.
    let until = Instant::now() + Duration::from_secs(60);
    while served.ctl("stats")["connections"] != 2 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(Client::new(&served.socket(), true).read(0, 4), b"mine");
}

#[test]
fn unknown_client_flags_end_the_connection() {
    let served = Served::new(spec("conventional", "0"));
    let mut stream = UnixStream::connect(served.socket()).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    stream.write_all(&[0xff; 4]).unwrap();
    assert!(has_ended(stream));
    assert!(said_once(&served, 1, "client flags"));
}

#[test]
fn wrong_options_get_replies_and_the_next_may_be_right() {
    let served = Served::new(spec("conventional", "0"));
    let mut stream = greeted(&served.socket());
    let last = |all: Vec<(u32, Vec<u8>)>| all.last().unwrap().0;
    assert_eq!(last(ask(&mut stream, 7, &[0, 0, 0, 9, 0, 0])), 1 << 31 | 3, "lengths that lie");
    assert_eq!(last(ask(&mut stream, 7, b"\0\0\0\x04else\0\0")), 1 << 31 | 6, "another export");
    assert_eq!(last(ask(&mut stream, 10, &[0; 8])), 1 << 31 | 3, "contexts before structured replies");
    assert_eq!(last(ask(&mut stream, 5, &[])), 1 << 31 | 2, "no TLS here");
    assert_eq!(last(ask(&mut stream, 3, &[1])), 1 << 31 | 3, "a list has no data");
    let (kind, name) = ask(&mut stream, 3, &[]).swap_remove(0);
    assert_eq!((kind, &name[..12]), (2, &b"\0\0\0\x08fair-tlc"[..]));
    assert!(name.ends_with(b"under conventional"), "its description");
    assert_eq!(last(ask(&mut stream, 6, &[0; 6])), 1);
    assert_eq!(last(ask(&mut stream, 2, &[])), 1);
    assert!(has_ended(stream) && served.log().is_empty());
}

#[test]
fn refused_contexts_replace_earlier_ones() {
    let served = Served::new(spec("conventional", "0"));
    let right = b"\0\0\0\0\0\0\0\x01\0\0\0\x0fbase:allocation";
    let status = |then: Option<(u32, &[u8])>| {
        let mut stream = greeted(&served.socket());
        for (kind, data) in [(8, &[][..]), (10, right)].into_iter().chain(then).chain([(7, &[0; 6][..])]) {
            ask(&mut stream, kind, data);
        }
        Client::over(stream, true).ask(STATUS, 0, 0, 4096, &[]).0
    };
    assert_eq!(status(None), 0);
    assert_eq!(status(Some((9, right))), 0, "a list sets nothing");
    assert_eq!(status(Some((10, b"abc"))), 22, "lengths that lie");
    assert_eq!(status(Some((10, b"\0\0\0\x04else\0\0\0\0"))), 22, "another export");
    assert_eq!(status(Some((10, &[0; 8]))), 22, "none");
}

/// As many writes under way as may be, and some more that wait for room: no more than a socket holds that nobody reads.
fn full(served: &Served) -> Client {
    let mut client = Client::new(&served.socket(), false);
    for i in 0..1030 {
        client.send(WRITE, 0, i << 12, 4096, &[1; 4096]);
    }
    while served.ctl("stats")["drive"]["commands_under_way"] != 1024 {
        std::thread::sleep(Duration::from_millis(1));
    }
    client
}

#[test]
fn client_waiting_for_room_is_freed_by_cut_or_shutdown() {
    let served = Served::new(spec("conventional", "1000000"));
    let cut = full(&served);
    served.ctl("cut");
    assert!(has_ended(cut.stream));
    let waited = Instant::now();
    while served.ctl("stats")["connections"] != 0 {
        assert!(waited.elapsed() < Duration::from_secs(20), "it is still waited for");
        std::thread::sleep(Duration::from_millis(1));
    }
    // Who comes now waits for the recovery, which ends with this.
    served.ctl("set time-scale=0");
    served.ctl("set time-scale=1000000");
    let left = full(&served);
    let (end, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || end.send(served.stop()));
    assert!(ended.recv_timeout(Duration::from_secs(60)).is_ok(), "the server does not end");
    assert!(has_ended(left.stream));
}

#[test]
fn client_that_leaves_midway_is_no_event() {
    let served = Served::new(spec("conventional", "0"));
    let whole = [request(WRITE, 4096), vec![7; 4096]].concat();
    for length in [0, 1, 27, 28, 29, 4123] {
        let mut client = Client::new(&served.socket(), false);
        client.stream.write_all(&whole[..length]).unwrap();
    }
    let mut client = Client::new(&served.socket(), false);
    assert_eq!(client.read(0, 4096), [0; 4096]);
    assert!(served.log().is_empty(), "{:?}", served.log());
}

#[test]
fn client_that_ignores_replies_delays_nobody() {
    let served = Served::new(spec("conventional", "0"));
    let mut deaf = Client::new(&served.socket(), false);
    // More than a socket holds, and no more than may be under way.
    for _ in 0..60 {
        deaf.send(READ, 0, 0, 1 << 20, &[]);
    }
    let mut other = Client::new(&served.socket(), false);
    for i in 0..100 {
        other.write(i * 4096, &[1; 4096]);
    }
    assert_eq!(deaf.reply(|_| 1 << 20).unwrap().data.len(), 1 << 20);
}

#[test]
fn client_beyond_the_queue_depth_waits_and_gets_all() {
    let served = Served::new(spec("conventional", "0"));
    let mut client = Client::new(&served.socket(), false);
    let mut stream = client.stream.try_clone().unwrap();
    let asked = std::thread::spawn(move || {
        for _ in 0..6 {
            stream.write_all(&request(READ, 64 << 20)).unwrap();
        }
    });
    for _ in 0..6 {
        assert_eq!(client.reply(|_| 64 << 20).unwrap().data.len(), 64 << 20);
    }
    asked.join().unwrap();
}

#[test]
fn client_that_stops_after_asking_delays_nobody() {
    let served = Served::new(spec("conventional", "10"));
    let mut other = Client::new(&served.socket(), false);
    other.write(0, &[7; 4096]);
    for length in [4096, 1 << 20] {
        let mut slow = Client::new(&served.socket(), false);
        other.send(READ, 0, 0, 4096, &[]);
        slow.send(READ, 0, 0, 4096, &[]);
        slow.stream.write_all(&request(WRITE, length)).unwrap();
        for client in [&mut slow, &mut other] {
            assert_eq!(client.reply(|_| 4096).unwrap().data, [7; 4096], "{length}");
        }
        other.send(READ, 0, 0, 4096, &[]);
        slow.stream.write_all(&[1; 100]).unwrap();
        drop(slow);
        assert_eq!(other.reply(|_| 4096).unwrap().data, [7; 4096], "{length}");
    }
    // More than may be under way: who takes them in waits for room.
    let mut stream = other.stream.try_clone().unwrap();
    let asked = std::thread::spawn(move || stream.write_all(&request(READ, 4096).repeat(1500)).unwrap());
    for _ in 0..1500 {
        assert_eq!(other.reply(|_| 4096).unwrap().data, [7; 4096]);
    }
    asked.join().unwrap();
    let mut brief = Client::new(&served.socket(), false);
    other.send(READ, 0, 0, 4096, &[]);
    brief.send(READ, 0, 0, 4096, &[]);
    drop(brief);
    assert_eq!(other.reply(|_| 4096).unwrap().data, [7; 4096]);
}

#[test]
fn unsupported_requests_fail_and_the_connection_lives() {
    let served = Served::new(spec("conventional", "0"));
    for structured in [false, true] {
        let mut client = Client::new(&served.socket(), structured);
        let end = client.size;
        assert_eq!(client.ask(READ, 0, end, 1, &[]).0, 22, "EINVAL");
        assert_eq!(client.ask(WRITE, 0, end - 1, 2, &[1, 2]).0, 28, "ENOSPC");
        assert_eq!(client.ask(READ, 0, u64::MAX, 4096, &[]).0, 22);
        assert_eq!(client.ask(READ, 0, 0, 65 << 20, &[]).0, 22);
        let too_long = (64 << 20) + 1;
        assert_eq!(client.ask(WRITE, 0, 0, too_long, &vec![1; too_long as usize]).0, 22);
        assert_eq!(client.ask(77, 0, 0, 0, &[]).0, 22);
        assert_eq!(client.ask(READ, 1 << 9, 0, 512, &[]).0, 22);
        assert_eq!(client.read(end - 1, 1), [0]);
    }
    assert!(served.log().is_empty());
}
