//! Large writes, which are received while others are simulated and are submitted together.

use crate::client::{Client, DISCONNECT, FLUSH, READ, WRITE};
use crate::support::{Rng, Served, spec};
use std::collections::BTreeSet;
use std::io::Write;
use std::net::Shutdown;
use std::time::{Duration, Instant};

/// Send writes without waiting for their replies, and note what the drive then holds.
fn send(client: &mut Client, held: &mut [u8], sizes: &[usize], rng: &mut Rng) -> BTreeSet<u64> {
    let mut cookies = BTreeSet::new();
    for size in sizes {
        // Those in flight do not overlap, since their order is free.
        let offset = cookies.len() << 20;
        let data: Vec<u8> = (0..*size).map(|_| rng.below(256) as u8).collect();
        held[offset..offset + size].copy_from_slice(&data);
        cookies.insert(client.send(WRITE, 0, offset as u64, *size as u32, &data));
    }
    cookies
}

#[test]
fn large_writes_in_flight_return_what_was_written() {
    const SIZES: [usize; 6] = [1 << 20, 65_536, 4096, 200_704, 10_000, 600_000];
    for scale in ["0", "0.001"] {
        let served = Served::new(spec("slc-cache", scale));
        let mut client = Client::new(&served.socket(), true);
        let mut held = vec![0; 48 << 20];
        let mut rng = Rng(7);
        for round in 0..3 {
            let sizes: Vec<usize> = (0..40).map(|n| SIZES[(n + round) % SIZES.len()]).collect();
            let mut writer = Client::over(client.stream.try_clone().unwrap(), true);
            let sending = std::thread::scope(|scope| {
                let sent = scope.spawn(|| send(&mut writer, &mut held, &sizes, &mut rng));
                // A client may send before it has read any reply, within the limits of the server.
                let replies: Vec<_> = sizes.iter().map(|_| client.reply(|_| 0).unwrap()).collect();
                (sent.join().unwrap(), replies)
            });
            let (sent, replies) = sending;
            assert!(replies.iter().all(|reply| reply.error == 0));
            assert_eq!(sent, replies.iter().map(|reply| reply.cookie).collect(), "one reply each");
            for at in (0..40 << 20).step_by(1 << 20) {
                assert!(client.read(at as u64, 1 << 20) == held[at..at + (1 << 20)], "{scale}: {at}");
            }
        }
    }
}

#[test]
fn writes_before_a_broken_one_are_done() {
    let served = Served::new(spec("conventional", "0"));
    for (number, broken) in [&[0; 28][..], &[0x25, 0x60, 0x95, 0x13, 0, 0, 0, 1], &[]].into_iter().enumerate()
    {
        let mut client = Client::new(&served.socket(), true);
        let (data, at) = (vec![number as u8 + 1; 65_536], number as u64 * (1 << 20));
        for n in 0..3 {
            client.send(WRITE, 0, at + n * 65_536, 65_536, &data);
        }
        if broken.is_empty() {
            // Half of a write, and the end.
            client.send(WRITE, 0, at + 3 * 65_536, 65_536, &data[..30_000]);
        } else {
            let _ = client.stream.write_all(broken);
        }
        client.stream.shutdown(Shutdown::Write).unwrap();
        let mut other = Client::new(&served.socket(), true);
        let until = Instant::now() + Duration::from_secs(20);
        while other.read(at, 3 * 65_536) != data.repeat(3) {
            assert!(Instant::now() < until, "{broken:?}");
        }
        assert!(other.read(at + 3 * 65_536, 65_536).iter().all(|byte| *byte == 0), "{broken:?}");
    }
}

#[test]
fn all_outstanding_writes_are_answered_before_a_disconnect() {
    let served = Served::new(spec("slc-cache", "0"));
    let mut client = Client::new(&served.socket(), true);
    let data = vec![9; 1 << 20];
    let mut writer = Client::over(client.stream.try_clone().unwrap(), true);
    let answered = std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..8).for_each(|n| _ = writer.send(WRITE, 0, n << 20, 1 << 20, &data));
            writer.send(FLUSH, 0, 0, 0, &[]);
            writer.send(READ, 0, 7 << 20, 512, &[]);
            writer.send(DISCONNECT, 0, 0, 0, &[]);
        });
        std::iter::from_fn(|| client.reply(|cookie| if cookie == 10 { 512 } else { 0 })).count()
    });
    assert_eq!(answered, 10);
}
