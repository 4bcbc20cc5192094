//! A disk that fails under a folder: no FLUSH succeeds from then on.

use crate::client::{Client, FLUSH, READ, WRITE};
use crate::support::{Served, spec};
use std::path::Path;
use wordline_live::ServeSpec;

const EIO: u32 = 5;
const FUA: u16 = 1;
/// More bytes than stay in the log, so that a FLUSH syncs `drive.pages`, too.
const MANY: usize = 1 << 20;

fn drive(data: &Path) -> ServeSpec {
    ServeSpec { data: Some(data.to_path_buf()), ..spec("conventional", "0") }
}

/// A drive in a folder whose `drive.pages` is no file but a device that takes every write and fails every sync.
fn on_failing_disk(folder: &Path) -> Served {
    let data = folder.join("data");
    Served::new(drive(&data)).stop();
    std::fs::remove_file(data.join("drive.pages")).unwrap();
    std::os::unix::fs::symlink("/dev/null", data.join("drive.pages")).unwrap();
    Served::new(drive(&data))
}

// Linux reports an error of the disk once, and drops what it could not write: a second sync succeeds.
#[test]
fn no_flush_succeeds_after_a_sync_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let served = on_failing_disk(folder.path());
    let mut client = Client::new(&served.socket(), true);
    client.flush();
    client.write(0, &[1; MANY]);
    assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]).0, EIO);
    let mut other = Client::new(&served.socket(), true);
    for client in [&mut client, &mut other] {
        assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]).0, EIO);
        assert_eq!(client.ask(WRITE, FUA, 0, 4096, &[2; 4096]).0, EIO);
        assert_eq!(client.ask(WRITE, 0, 0, 4096, &[2; 4096]).0, EIO);
        assert_eq!(client.ask(READ, 0, 0, 4096, &[]).0, EIO);
        assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]).0, EIO);
    }
    let why =
        "the log cannot be written: Invalid argument (os error 22); fix the cause and start the server again";
    let log = served.log();
    assert!(log.iter().filter(|line| line.contains("the drive has stopped")).count() == 1, "{log:?}");
    assert!(log.iter().any(|line| line.contains(why)), "{log:?}");
    let stopped = served.ctl("stats")["drive"]["stopped"].as_str().unwrap().to_string();
    assert!(stopped.contains(why), "{stopped}");
    assert!(served.stop().folder_failure().unwrap().contains(why));
}

// A write that promises nothing succeeds until then, and the FLUSH of many clients fails for each of them.
#[test]
fn every_flush_that_shares_a_failed_sync_fails() {
    let folder = tempfile::tempdir().unwrap();
    let served = on_failing_disk(folder.path());
    let mut clients: Vec<Client> = (0..4).map(|_| Client::new(&served.socket(), false)).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.write((number * MANY) as u64, &vec![number as u8; MANY]);
    }
    for client in &mut clients {
        for _ in 0..8 {
            client.send(FLUSH, 0, 0, 0, &[]);
        }
    }
    for client in &mut clients {
        let errors: Vec<u32> = (0..8).map(|_| client.reply(|_| 0).unwrap().error).collect();
        assert_eq!(errors, [EIO; 8]);
    }
}
