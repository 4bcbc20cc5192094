//! A drive at a moment is kept, and goes on from there as another drive.

use crate::client::Client;
use crate::support::{Served, spec};

const SECTOR: u64 = 4096;

fn filled(byte: u8, sectors: u64) -> Vec<u8> {
    vec![byte; (SECTOR * sectors) as usize]
}

/// Where a fork of a server is found, and controlled.
fn fork(served: &Served, of: &str, name: &str) -> (std::path::PathBuf, std::path::PathBuf) {
    let at = |suffix: &str| served.folder.path().join(format!("{name}.{suffix}"));
    let (socket, control) = (at("sock"), at("ctl"));
    let words = format!("fork {of} nbd=unix:{} control={}", socket.display(), control.display());
    let answer = served.ctl(&words);
    assert!(answer["fork"].as_str().unwrap().contains(name), "{answer}");
    (socket, control)
}

#[test]
fn fork_and_parent_diverge_without_sharing_writes() {
    let served = Served::new(spec("slc-cache", "0"));
    let mut client = Client::new(&served.socket(), true);
    client.write(0, &filled(1, 8));
    assert_eq!(served.ctl("snapshot one")["snapshot"], "one");
    client.write(0, &filled(2, 4));
    let (now, _) = fork(&served, "", "now");
    client.write(0, &filled(3, 2));
    let (then, _) = fork(&served, "one", "then");
    let (mut now, mut then) = (Client::new(&now, true), Client::new(&then, true));
    let now_holds = [filled(2, 4), filled(1, 4)].concat();
    assert!(then.read(0, 8 * SECTOR as u32) == filled(1, 8));
    assert!(now.read(0, 8 * SECTOR as u32) == now_holds);
    then.write(4 * SECTOR, &filled(4, 4));
    assert!(now.read(0, 8 * SECTOR as u32) == now_holds);
    let here = [filled(3, 2), filled(2, 2), filled(1, 4)].concat();
    assert!(client.read(0, 8 * SECTOR as u32) == here);
    // A second drive from the same moment knows nothing of the first.
    let (again, _) = fork(&served, "one", "again");
    assert!(Client::new(&again, true).read(0, 8 * SECTOR as u32) == filled(1, 8));
    let stats = served.ctl("stats");
    assert_eq!((stats["forks"].as_array().map(Vec::len), &stats["snapshots"][0]), (Some(3), &"one".into()));
    let folder = served.folder.path().to_path_buf();
    served.stop();
    assert!(!folder.join("then.sock").exists(), "forks end with their server");
}

#[test]
fn fork_keeps_its_bytes_while_the_parent_reuses_memory() {
    let served = Served::new(spec("slc-cache", "0"));
    let mut client = Client::new(&served.socket(), true);
    for byte in 1..=3 {
        client.write(0, &filled(byte, 128));
    }
    let (socket, control) = fork(&served, "", "fork");
    let mut forked = Client::new(&socket, true);
    for byte in 4..=40 {
        client.write(0, &filled(byte, 128));
        forked.write(256 * SECTOR, &filled(byte, 64));
        assert!(forked.read(0, 128 * SECTOR as u32) == filled(3, 128), "after write {byte}");
    }
    wordline_live::ask(&control, "cut").unwrap();
    let mut forked = Client::new(&socket, true);
    assert!(forked.read(0, 128 * SECTOR as u32) == filled(3, 128));
    assert!(forked.read(256 * SECTOR, 64 * SECTOR as u32) == filled(40, 64));
    assert!(client.read(0, 128 * SECTOR as u32) == filled(40, 128));
}

#[test]
fn the_power_of_a_fork_is_cut_by_itself() {
    let served = Served::new(spec("conventional", "0"));
    let mut client = Client::new(&served.socket(), true);
    client.write(0, &filled(7, 64));
    let (socket, control) = fork(&served, "", "cut");
    let answer = wordline_live::ask(&control, "cut").unwrap();
    assert!(answer.contains("recovery_ns"), "{answer}");
    assert!(Client::new(&socket, true).read(0, 64 * SECTOR as u32) == filled(7, 64));
    assert_eq!(served.ctl("stats")["drive"]["cuts"].as_array().map(Vec::len), Some(0));
    // One log has the lines of all drives; whose power was cut it says.
    let of = format!("fork unix:{}: power cut 1 at ", socket.display());
    assert!(served.log().iter().any(|line| line.starts_with(&of)), "{:?}", served.log());
    assert!(client.read(0, 64 * SECTOR as u32) == filled(7, 64));
}

#[test]
fn what_cannot_be_forked_is_told() {
    let served = Served::new(spec("conventional", "0"));
    let control = served.folder.path().join("d.ctl");
    let wrong = |order: &str| wordline_live::ask(&control, order).unwrap_err().to_string();
    assert!(wrong("fork nbd=unix:/tmp/f speed=2").contains("allowed: fork [NAME] nbd=unix:PATH"));
    assert!(wrong("fork one nbd=unix:/tmp/f").contains("none; create one with snapshot NAME"));
    served.ctl("snapshot two");
    assert!(wrong("snapshot two").contains("exists\n  allowed: another name, or first drop two"));
    assert!(wrong("end nbd=unix:/tmp/f").contains("none; fork creates one"));
    assert!(wrong("fork one nbd=unix:/tmp/f").contains("allowed: two"));
    let taken = format!("fork two nbd=unix:{}", served.socket().display());
    assert!(wrong(&taken).contains("address already in use"));
    served.ctl("drop two");
    assert!(wrong("drop two").contains("unknown snapshot"));
}

#[test]
fn forks_are_listed_and_end_by_their_address() {
    let served = Served::new(spec("conventional", "0"));
    Client::new(&served.socket(), true).write(0, &filled(1, 8));
    served.ctl("snapshot one");
    let (first, control) = fork(&served, "one", "first");
    let (second, _) = fork(&served, "", "second");
    let list = served.ctl("forks");
    assert_eq!(list.as_array().map(Vec::len), Some(2), "{list}");
    assert_eq!((&list[0]["snapshot"], list[1].get("snapshot")), (&"one".into(), None));
    assert_eq!(list[0]["control"], control.display().to_string());
    let mut client = Client::new(&first, true);
    let ended = served.ctl(&format!("end nbd=unix:{}", first.display()));
    assert!(ended["ended"].as_str().unwrap().contains("first"), "{ended}");
    assert_eq!(client.reply(|_| 0), None, "its connections end");
    assert!(!first.exists() && !control.exists() && second.exists());
    assert_eq!(served.ctl("forks").as_array().map(Vec::len), Some(1));
    assert!(Client::new(&second, true).read(0, 8 * SECTOR as u32) == filled(1, 8));
    // The same place again.
    fork(&served, "one", "first");
}
