// Records of 4 KiB, each with a commit sector: ten run DISK [careless], ten verify DISK MARKS. Compile: rustc ten.rs
use std::fs::{File, OpenOptions};
use std::io::{Error, Read, Result};
use std::os::unix::fs::FileExt;

fn run(disk: &str, careless: bool) -> Result<()> {
    let drive = OpenOptions::new().write(true).open(disk)?;
    for number in 1..=8u8 {
        drive.write_all_at(&[number; 4096], 65536 + u64::from(number) * 4096)?;
        if !careless {
            drive.sync_data()?;
        }
        drive.write_all_at(&[number; 512], u64::from(number) * 512)?;
        drive.sync_data()?;
        println!("{number}");
    }
    Ok(())
}

fn verify(disk: &str, marks: &str) -> Result<()> {
    let (mut drive, marks) = (vec![0; 131072], std::fs::read_to_string(marks)?);
    File::open(disk)?.read_exact(&mut drive)?; // its beginning alone: the drive may be large
    for number in 1..=8usize {
        let committed = drive[number * 512] == number as u8;
        let whole = drive[65536 + number * 4096..][..4096] == [number as u8; 4096];
        if committed && !whole || !committed && marks.lines().any(|line| line == number.to_string()) {
            return Err(Error::other(format!("record {number} is missing or not whole")));
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    if words[1] == "run" { run(&words[2], words.len() > 3) } else { verify(&words[2], &words[3]) }
}
