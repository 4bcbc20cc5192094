//! Writes a file: collects requests into blocks, and packs their columns.

use crate::formats::wordline::layout::{BLOCK, END, LONGEST_NAME, MAGIC, MOST, VERSION, kind};
use crate::formats::wordline::packing::{grouped_bytes, write_column, zigzag};
use crate::reading::record::Record;
use crate::reading::writing::RecordWriter;
use crate::source::frame::FrameEncoder;
use crate::text::numbers::TENS;
use twox_hash::XxHash3_64;
use wordline_units::HostOp;

/// A file being written.
#[derive(Default)]
pub(crate) struct Packer {
    records: Vec<Record>,
    blocks: u64,
    requests: u64,
    first: u64,
    last: u64,
    kinds: [u64; 4],
    fua: u64,
    volumes: Vec<(u64, u64)>,
    encoder: FrameEncoder,
}

impl Packer {
    fn block(&mut self, out: &mut Vec<u8>) {
        let Some(first) = self.records.first().map(|r| r.time) else { return };
        let payload = payload(&self.records);
        // Decompression takes time, so it must save at least a quarter.
        let small = self.encoder.frame(&payload).filter(|s| s.len() * 4 <= payload.len() * 3);
        let stored = small.as_ref().unwrap_or(&payload);
        let start = out.len();
        out.extend(BLOCK);
        for n in [self.records.len(), payload.len(), stored.len()] {
            out.extend((n as u32).to_le_bytes());
        }
        out.extend(first.to_le_bytes());
        out.extend(XxHash3_64::oneshot(stored).to_le_bytes());
        let sum = XxHash3_64::oneshot(&out[start..]);
        out.extend(sum.to_le_bytes());
        out.extend(stored);
        self.blocks += 1;
        self.records.clear();
    }
}

fn payload(records: &[Record]) -> Vec<u8> {
    let mut before = records.first().map_or(0, |r| r.time);
    let mut times: Vec<u64> = Vec::with_capacity(records.len());
    for r in records {
        // Times never decrease in a written trace.
        times.push(r.time.saturating_sub(before));
        before = r.time;
    }
    let exponent = (0..TENS.len()).rev().find(|e| times.iter().all(|t| t.is_multiple_of(TENS[*e])));
    let exponent = exponent.unwrap_or(0);
    times.iter_mut().for_each(|t| *t /= TENS[exponent]);
    let shift = records.iter().fold(0, |all, r| all | r.offset | r.bytes).trailing_zeros() % 64;
    let (mut differences, mut plain) = (Vec::new(), Vec::new());
    let mut end = 0;
    for r in records {
        let offset = if r.op == HostOp::Flush { end } else { r.offset >> shift };
        differences.push(zigzag(offset.wrapping_sub(end) as i64));
        plain.push(r.offset >> shift);
        end = offset + (r.bytes >> shift);
    }
    let is_plain = grouped_bytes(&plain) < grouped_bytes(&differences);
    let column = |value: fn(&Record) -> u64| records.iter().map(value).collect::<Vec<u64>>();
    let sizes: Vec<u64> = records.iter().map(|r| r.bytes >> shift).collect();
    let mut out = vec![exponent as u8, shift as u8, is_plain as u8];
    write_column(&times, &mut out);
    write_column(if is_plain { &plain } else { &differences }, &mut out);
    write_column(&sizes, &mut out);
    write_column(&column(kind), &mut out);
    write_column(&column(|r| r.volume as u64), &mut out);
    out
}

impl RecordWriter for Packer {
    fn begin(&mut self, volumes: &[String], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend((volumes.len() as u32).to_le_bytes());
        for name in volumes {
            let name = &name.as_bytes()[..name.len().min(LONGEST_NAME)];
            out.extend((name.len() as u16).to_le_bytes());
            out.extend(name);
        }
        let sum = XxHash3_64::oneshot(&out[start..]);
        out.extend(sum.to_le_bytes());
        self.volumes = vec![(0, 0); volumes.len()];
    }

    fn write(&mut self, r: &Record, _volumes: &[String], out: &mut Vec<u8>) {
        if self.requests == 0 {
            self.first = r.time;
        }
        self.last = r.time;
        self.requests += 1;
        self.kinds[r.op as usize] += 1;
        self.fua += u64::from(r.attributes.is_fua());
        if let Some(volume) = self.volumes.get_mut(r.volume as usize) {
            *volume = (volume.0 + 1, volume.1.max(r.offset + r.bytes));
        }
        self.records.push(*r);
        if self.records.len() == MOST {
            self.block(out);
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.block(out);
        let start = out.len();
        out.extend(END);
        out.extend((self.volumes.len() as u32).to_le_bytes());
        let [reads, writes, trims, flushes] = self.kinds;
        for n in [self.blocks, self.requests, self.first, self.last, reads, writes, trims, flushes, self.fua]
        {
            out.extend(n.to_le_bytes());
        }
        for (requests, end) in &self.volumes {
            out.extend(requests.to_le_bytes());
            out.extend(end.to_le_bytes());
        }
        let sum = XxHash3_64::oneshot(&out[start..]);
        out.extend(sum.to_le_bytes());
    }
}
