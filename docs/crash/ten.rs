// Records of 4 KiB, each with a commit sector: ten run SOCKET [careless], ten verify IMAGE MARKS. Compile: rustc ten.rs
use std::io::{Error, Read, Result, Write};
use std::os::unix::net::UnixStream;

fn ask(drive: &mut UnixStream, kind: u16, offset: u64, data: &[u8]) -> Result<()> {
    let mut request = vec![0x25, 0x60, 0x95, 0x13, 0, 0];
    request.extend(kind.to_be_bytes());
    request.extend([0; 8]);
    request.extend(offset.to_be_bytes());
    request.extend((data.len() as u32).to_be_bytes());
    request.extend(data);
    drive.write_all(&request)?;
    let mut reply = [0; 16];
    drive.read_exact(&mut reply)?;
    if reply[4..8] == [0; 4] { Ok(()) } else { Err(Error::other("the drive has failed a request")) }
}

fn run(path: &str, careless: bool) -> Result<()> {
    let mut drive = UnixStream::connect(path)?;
    drive.read_exact(&mut [0; 18])?;
    drive.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\0")?;
    drive.read_exact(&mut [0; 10])?;
    for number in 1..=8u8 {
        ask(&mut drive, 1, 65536 + u64::from(number) * 4096, &[number; 4096])?; // WRITE
        if !careless {
            ask(&mut drive, 3, 0, &[])?; // FLUSH
        }
        ask(&mut drive, 1, u64::from(number) * 512, &[number; 512])?;
        ask(&mut drive, 3, 0, &[])?;
        println!("{number}");
    }
    Ok(())
}

fn verify(image: &str, marks: &str) -> Result<()> {
    let (mut disk, marks) = (vec![0; 131072], std::fs::read_to_string(marks)?);
    std::fs::File::open(image)?.read_exact(&mut disk)?; // its beginning alone: the drive may be large
    for number in 1..=8usize {
        let committed = disk[number * 512] == number as u8;
        let whole = disk[65536 + number * 4096..][..4096] == [number as u8; 4096];
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
