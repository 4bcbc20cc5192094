//! The control socket: what is armed is seen and taken back, and the power goes with or without the connections.

use crate::client::{Client, FLUSH, READ, STATUS, TRIM, WRITE};
use crate::support::{Rng, Served, spec};
use wordline_live::ServeSpec;

const SECTOR: u64 = 4096;

#[test]
fn armed_faults_are_listed_and_removed_by_number() {
    let served = Served::new(spec("conventional", "0"));
    served.ctl("cut writes=5");
    served.ctl("cut flushes=1 seed=9");
    served.ctl("inject read-error offset=4096 length=512 count=3");
    served.ctl("inject no-space count=2");
    let armed = served.ctl("armed");
    assert_eq!((&armed["cuts"][0]["writes"], &armed["cuts"][1]["seed"]), (&5.into(), &9.into()));
    assert!(armed["cuts"][0].get("seed").is_none(), "{armed}");
    let faults = armed["faults"].as_array().unwrap();
    assert_eq!((&faults[0]["from"], &faults[0]["to"]), (&4096.into(), &4608.into()));
    assert_eq!(faults[1]["fault"], "no-space");
    assert_eq!(served.ctl("stats")["drive"]["armed"], armed["cuts"]);
    let number = armed["cuts"][1]["number"].as_u64().unwrap();
    assert_eq!(served.ctl(&format!("disarm {number}"))["disarmed"], 1);
    let mut client = Client::new(&served.socket(), true);
    client.flush();
    let control = served.folder.path().join("d.ctl");
    let said = wordline_live::ask(&control, &format!("disarm {number}")).unwrap_err().to_string();
    assert!(said.contains("no cut or fault has this number\n  allowed: "), "{said}");
    assert_eq!(served.ctl(&format!("disarm {}", faults[0]["number"]))["disarmed"], 1);
    assert_eq!(client.ask(READ, 0, 4096, 512, &[]).0, 0);
    assert_eq!(served.ctl("disarm")["disarmed"], 1);
    for i in 0..20 {
        let error = client.ask(WRITE, 0, i * SECTOR, SECTOR as u32, &[1; 4096]).0;
        assert_eq!(error, if i < 2 { 28 } else { 0 });
    }
    assert_eq!(served.ctl("armed"), serde_json::json!({ "cuts": [], "faults": [] }));
}

#[test]
fn reset_keeps_connections_and_fails_requests_briefly() {
    let served = Served::new(spec("conventional", "100000"));
    let mut client = Client::new(&served.socket(), true);
    let lost = client.send(WRITE, 0, 0, SECTOR as u32, &[1; 4096]);
    while served.ctl("stats")["drive"]["commands_under_way"] != 1 {}
    let reset = served.ctl("reset down=600s");
    assert_eq!(reset["reset"]["lost_requests"], 1, "{reset}");
    let reply = client.reply(|_| 0).unwrap();
    assert_eq!((reply.cookie, reply.error), (lost, 5), "EIO");
    assert_eq!(client.ask(READ, 0, 0, SECTOR as u32, &[]).0, 5);
    assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]).0, 5);
    served.ctl("set time-scale=0");
    client.write(0, &[2; 4096]);
    assert_eq!(client.read(0, SECTOR as u32), [2; 4096]);
    assert_eq!(served.ctl("stats")["drive"]["cuts"].as_array().map(Vec::len), Some(1));
    // Without time the drive is away for as long as is asked.
    served.ctl("reset down=50ms");
    while client.ask(READ, 0, 0, SECTOR as u32, &[]).0 == 5 {}
    assert_eq!(client.read(0, SECTOR as u32), [2; 4096]);
    assert!(served.ctl("stats")["connections"] == 1);
}

#[test]
fn cut_counts_exactly_the_pages_it_tore() {
    let served = Served::new(spec("conventional", "100000"));
    let mut torn = vec![];
    for round in 0..6u64 {
        let mut client = Client::new(&served.socket(), true);
        if round < 5 {
            for i in 0..16 {
                client.send(WRITE, 0, i * 4 * SECTOR, 4 * SECTOR as u32, &[1; 16_384]);
            }
            while served.ctl("stats")["drive"]["commands_under_way"] != 16 {}
            served.ctl(&format!("cut seed={round} within=400us"));
            served.ctl("set time-scale=1");
            while served.ctl("stats")["drive"]["cuts"].as_array().unwrap().len() as u64 == round {}
        } else {
            served.ctl("cut");
        }
        served.ctl("set time-scale=0");
        served.ctl("set time-scale=100000");
        torn.push(served.ctl("stats")["drive"]["cuts"][round as usize]["torn_pages"].as_u64().unwrap());
    }
    let (last, before) = torn.split_last().unwrap();
    assert!(*last < before.iter().sum(), "{torn:?}");
}

#[test]
fn trims_free_the_pages_they_cover_together() {
    let served = Served::new(spec("conventional", "0"));
    let mut client = Client::new(&served.socket(), true);
    client.write(0, &[7; 65_536]);
    let mapped = || served.ctl("stats")["drive"]["mapped_units"].as_u64().unwrap();
    let before = mapped();
    assert!(before > 0);
    for at in (0..16).rev() {
        assert_eq!(client.ask(TRIM, 0, at * SECTOR, SECTOR as u32, &[]).0, 0);
    }
    assert_eq!(mapped(), 0);
    assert_eq!(client.read(0, 65_536), vec![0; 65_536]);
    let (error, extents) = client.ask(STATUS, 0, 0, 65_536, &[]);
    assert_eq!((error, &extents[..8]), (0, &[0, 1, 0, 0, 0, 0, 0, 3][..]));
}

#[test]
fn what_is_under_way_at_the_end_is_told() {
    let served = Served::new(spec("conventional", "100000"));
    let mut client = Client::new(&served.socket(), true);
    for i in 0..24 {
        client.send(WRITE, 0, i * SECTOR, SECTOR as u32, &[1; 4096]);
    }
    // Refused at once, behind all of them: they have been taken.
    assert_eq!(client.ask(77, 0, 0, 0, &[]).0, 22, "EINVAL");
    let ends = std::thread::spawn(move || served.stop());
    let errors: Vec<u32> = std::iter::from_fn(|| client.reply(|_| 0)).map(|reply| reply.error).collect();
    assert_eq!(errors, [108; 24], "ESHUTDOWN");
    ends.join().unwrap();
}

#[test]
fn memory_that_is_used_up_is_no_space() {
    let served = Served::new(ServeSpec { memory: Some(1 << 20), ..spec("conventional", "0") });
    let mut client = Client::new(&served.socket(), true);
    let error =
        (0..400).map(|i| client.ask(WRITE, 0, i * SECTOR, SECTOR as u32, &[1; 4096]).0).find(|e| *e != 0);
    assert_eq!(error, Some(28), "ENOSPC");
    assert_eq!(client.read(0, SECTOR as u32), [1; 4096]);
    let memory = served.ctl("stats")["drive"]["memory"].clone();
    assert!(memory["used"].as_u64() <= Some(1 << 20) && memory["limit"] == 1 << 20, "{memory}");
}

#[test]
fn memory_of_overwritten_data_is_reused_and_counted() {
    let served = Served::new(ServeSpec { memory: Some(2 << 20), ..spec("slc-cache", "0") });
    let mut client = Client::new(&served.socket(), true);
    // Sixteen times the limit. What a block of the flash still has of older writes needs no memory.
    for byte in 1..=64u8 {
        assert_eq!(client.ask(WRITE, 0, 0, 512 << 10, &vec![byte; 512 << 10]).0, 0, "write {byte}");
        let used = served.ctl("stats")["drive"]["memory"]["used"].as_u64().unwrap();
        assert!((512 << 10..=2 << 20).contains(&used), "{used} after write {byte}");
    }
    assert!(client.read(0, 512 << 10) == vec![64; 512 << 10]);
    served.ctl("cut");
    assert!(Client::new(&served.socket(), true).read(0, 512 << 10) == vec![64; 512 << 10]);
}

// Under a map of sectors a migration puts the sectors of several writes together: their bytes are counted once, and go when
// newer writes have replaced all of them, one by one.
#[test]
fn memory_of_overwritten_sectors_is_reused() {
    let served = Served::new(spec("sector", "0"));
    let mut client = Client::new(&served.socket(), true);
    let (mut rng, mut newest) = (Rng(1), [0; 512]);
    // Eighty times as much.
    for _ in 0..20 {
        for _ in 0..2048 {
            let (at, byte) = (rng.below(512), rng.below(255) as u8 + 1);
            client.write(at * SECTOR, &[byte; SECTOR as usize]);
            newest[at as usize] = byte;
        }
        let used = served.ctl("stats")["drive"]["memory"]["used"].as_u64().unwrap();
        // A sector is kept as a page up to it, and twice while it moves.
        assert!((2 << 20..=20 << 20).contains(&used), "{used} bytes for 2 MiB");
    }
    for (at, byte) in newest.iter().enumerate() {
        assert!(client.read(at as u64 * SECTOR, SECTOR as u32) == [*byte; SECTOR as usize], "{at}");
    }
}

#[test]
fn metrics_are_text_that_prometheus_reads() {
    let served = Served::new(spec("slc-cache", "0"));
    let mut client = Client::new(&served.socket(), true);
    client.write(0, &[1; 65_536]);
    client.write(1 << 20, &[1; 4096]);
    let text = wordline_live::ask(&served.folder.path().join("d.ctl"), "metrics").unwrap();
    for line in [
        "wordline_requests_total{type=\"write\"} 2",
        "wordline_host_bytes_total 69632",
        "wordline_host_page_bytes_total 81920",
        "# TYPE wordline_free_blocks gauge",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("wordline_programmed_bytes_total{cause=\"host\"}"), "{text}");
}

#[test]
fn drive_loads_an_image_under_another_name_and_size() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    let mut contents: Vec<u8> = (0..300_001u64).map(|i| ((i * i) >> 7) as u8).collect();
    contents[65_536..131_072].fill(0);
    std::fs::write(&image, &contents).unwrap();
    let data = Some(folder.path().join("data"));
    let of = |image: Option<&std::path::Path>| ServeSpec {
        image: image.map(std::path::Path::to_path_buf),
        export: Some("disk".to_string()),
        size: Some(8 << 20),
        data: data.clone(),
        ..spec("conventional", "0")
    };
    for image in [Some(image.as_path()), None] {
        let served = Served::new(of(image));
        let mut stream = crate::client::greeted(&served.socket());
        let names = crate::client::ask(&mut stream, 3, &[]);
        assert!(names[0].1.starts_with(b"\0\0\0\x04disk"));
        let mut client = Client::new(&served.socket(), true);
        assert_eq!(client.size, 8 << 20);
        assert!(client.read(0, contents.len() as u32) == contents);
        let mapped = served.ctl("stats")["drive"]["mapped_units"].as_u64().unwrap();
        assert_eq!(mapped, 15, "what is zero is not written");
        served.stop();
    }
}
