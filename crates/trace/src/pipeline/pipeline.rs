//! A [`Pipeline`]: input traces, operations on their requests, and the output file.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::pipeline::flow::{Align, Flow, Merge, TraceFlow};
use crate::pipeline::form::Form;
use crate::pipeline::loss::Fitted;
use crate::pipeline::step::Step;
use crate::reading::writing::Writing;
use crate::source::encoder::Encoder;
use crate::text::numbers::{grouped, readable_bytes};
use std::io::{self, Write};

/// Size of the output buffer in bytes.
const BUFFER: usize = 1 << 16;

/// Traces, and operations on their requests.
pub struct Pipeline {
    flow: Box<dyn Flow>,
}

impl Pipeline {
    /// Reads a trace: `FILE` (or several joined by `+`), with optional options as for a run, or `-`.
    ///
    /// # Errors
    ///
    /// As for a run: a file that cannot be read, recognized or used unchanged. Also options on how to drive a
    /// drive, which do not apply to a file.
    pub fn read(text: &str) -> Result<Pipeline, WorkloadError> {
        Ok(Pipeline { flow: Box::new(TraceFlow::load(text)?) })
    }

    /// Merges traces by time. Volumes of different traces stay separate: if two have the same name, the name
    /// of the file is added to both.
    ///
    /// # Errors
    ///
    /// Those of [`Pipeline::read`]; more than 65,536 volumes.
    pub fn merge(texts: &[String], align: Align) -> Result<Pipeline, WorkloadError> {
        let flows = texts.iter().map(|t| TraceFlow::load(t)).collect::<Result<Vec<_>, _>>()?;
        Ok(Pipeline { flow: Box::new(Merge::of(flows, align)?) })
    }

    /// Adds a step.
    pub fn then(self, step: Step) -> Pipeline {
        Pipeline { flow: step.after(self.flow) }
    }

    /// Writes the requests.
    ///
    /// # Errors
    ///
    /// Those of the trace and of `out`; no requests are left; or the format cannot represent something and
    /// [`Losses::Refuse`] is set.
    pub fn write(&self, form: &Form, out: impl Write) -> Result<Written, WorkloadError> {
        let Writing { keeps, read_with, mut writer } = form.writing()?;
        let mut fitted = Fitted::new(self.flow.as_ref(), keeps, form.losses)?;
        let failed = |e: io::Error| {
            WorkloadError::from(Problem::new(
                ErrorKind::Io,
                form.name.as_str(),
                format!("cannot be written: {e}"),
            ))
        };
        let mut encoder = Encoder::new(form.compression, out).map_err(failed)?;
        let mut buffer = Vec::with_capacity(2 * BUFFER);
        writer.begin(fitted.volumes(), &mut buffer);
        let mut requests = 0u64;
        for record in self.flow.open()? {
            let written = fitted.each(record?, |record, volumes| {
                requests += 1;
                writer.write(record, volumes, &mut buffer);
            });
            written.map_err(|what| Problem::new(ErrorKind::Content, self.flow.label(), what))?;
            if buffer.len() >= BUFFER {
                encoder.write_all(&buffer).map_err(failed)?;
                buffer.clear();
            }
        }
        writer.end(&mut buffer);
        fitted.judge(self.flow.label(), form)?;
        if requests == 0 {
            return Err(Problem::new(ErrorKind::Empty, self.flow.label(), "no requests are left to write")
                .allowed("at least one request")
                .hint(format!(
                    "`wordline trace inspect {}` shows the time span, volumes and number of requests",
                    self.flow.label()
                ))
                .into());
        }
        encoder.write_all(&buffer).map_err(failed)?;
        encoder.finish().map_err(failed)?;
        let read_with: Vec<String> = read_with.iter().map(|(k, v)| pair(k, v)).collect();
        Ok(Written {
            requests,
            format: form.format.name,
            read_with: read_with.join(","),
            dropped: fitted.losses(),
            renamed: fitted.renamed().to_vec(),
        })
    }
}

/// `key=value`, in quotes if the value contains a comma.
fn pair(key: &str, value: &str) -> String {
    if value.contains(',') { format!("{key}=\"{value}\"") } else { format!("{key}={value}") }
}

/// The result of writing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// Number of requests.
    pub requests: u64,
    /// The format's name.
    pub format: &'static str,
    /// Options needed to read it again, if its content does not determine them; may be empty.
    pub read_with: String,
    /// Dropped properties, one sentence each.
    pub dropped: Vec<String>,
    /// Volumes that were renamed: name, and new name.
    pub renamed: Vec<(String, String)>,
}

impl Written {
    /// A summary in one line; `bytes` is the size of the file.
    pub fn describe(&self, name: &str, bytes: u64) -> String {
        let requests = grouped(self.requests);
        let mut text = format!("{name}: {requests} requests as {}, {}", self.format, readable_bytes(bytes));
        for loss in &self.dropped {
            text += &format!("\n  dropped: {loss}");
        }
        if !self.renamed.is_empty() {
            const SHOWN: usize = 8;
            let shown = self.renamed.iter().take(SHOWN).map(|(old, new)| format!("{old} is {new}"));
            let more = self.renamed.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
            text += &format!("\n  volumes: {}{more}", shown.collect::<Vec<_>>().join(", "));
        }
        if !self.read_with.is_empty() {
            text += &format!("\n  read it with --format '{}:{}'", self.format, self.read_with);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{FORMATS, format_named};
    use crate::pipeline::flow::Records;
    use crate::pipeline::form::Losses;
    use crate::pipeline::step::{NumberRange, Scale, TimeRange};
    use crate::reading::detection::{Sample, Settings};
    use crate::reading::format::Format;
    use crate::reading::record::{Event, Record};
    use crate::reading::writing::{Keeps, Naming};
    use proptest::prelude::*;
    use wordline_units::{Attributes, HostOp, LatencyHint};

    /// Requests held in memory.
    struct Given {
        volumes: Vec<String>,
        records: Vec<Record>,
    }

    impl Flow for Given {
        fn label(&self) -> &str {
            "given"
        }
        fn volumes(&self) -> &[String] {
            &self.volumes
        }
        fn open(&self) -> Result<Records, WorkloadError> {
            Ok(Box::new(self.records.clone().into_iter().map(Ok)))
        }
    }

    fn pipeline(records: &[Record], volumes: &[&str]) -> Pipeline {
        let volumes = volumes.iter().map(|v| v.to_string()).collect();
        Pipeline { flow: Box::new(Given { volumes, records: records.to_vec() }) }
    }

    fn form(format: &Format, losses: Losses) -> Form {
        Form::of("given.out", Some(format.name), losses).unwrap()
    }

    /// What a format's reader makes of a content, with the names of the volumes.
    fn read(format: &Format, settings: &Settings, content: Vec<u8>) -> Vec<(Record, String)> {
        let mut reader = (format.open)(settings, Box::new(io::Cursor::new(content)));
        let mut out = Vec::new();
        while let Some(event) = reader.next().unwrap() {
            match event {
                Event::Request(r) => {
                    out.push((
                        Record { volume: 0, ..r },
                        reader.volumes().labels()[r.volume as usize].clone(),
                    ));
                }
                Event::Aside(_) => {}
                Event::Unusable(reason) | Event::Lost(_, reason) => panic!("{}: {reason}", format.name),
            }
        }
        out
    }

    /// Names that a format can say.
    fn names(naming: Naming) -> [&'static str; 3] {
        match naming {
            Naming::None => ["0", "0", "0"],
            Naming::Any => ["/dev/sdb", "a.1", "vm-7"],
            Naming::Number => ["7", "1063", "0"],
            Naming::HostAndDisk => ["usr.1", "hm.0", "a.b.3"],
            Naming::MajorMinor => ["8.16", "259.5", "0.1"],
        }
    }

    /// Requests as drawn, in units of what the format keeps.
    type Drawn = Vec<(u64, u64, u64, u8, bool, u16)>;

    fn drawn() -> impl Strategy<Value = Drawn> {
        let time = prop_oneof![Just(0u64), 0u64..50, 0u64..1 << 24];
        let address = prop_oneof![0u64..64, 0u64..1 << 30];
        let size = prop_oneof![Just(8u64), 1u64..512];
        prop::collection::vec((time, address, size, 0u8..4, any::<bool>(), 0u16..3), 1..300)
    }

    /// Requests of kinds, times and places that the format keeps.
    fn made(drawn: &Drawn, keeps: &Keeps, start: u64) -> Vec<Record> {
        let (unit, mut time) = (keeps.unit.max(if keeps.unit == 1 { 3 } else { 1 }), start);
        let record = |(gap, at, size, op, fua, volume): &(u64, u64, u64, u8, bool, u16)| {
            time += gap * keeps.tick;
            let op = match op {
                0 => HostOp::Read,
                2 if keeps.trim => HostOp::Trim,
                3 if keeps.flush => HostOp::Flush,
                _ => HostOp::Write,
            };
            let volume = if keeps.volumes == Naming::None { 0 } else { *volume };
            let record = Record {
                time,
                offset: at * unit,
                bytes: size * unit,
                op,
                attributes: Attributes::NONE,
                volume,
            };
            let fua = *fua && keeps.fua && op == HostOp::Write;
            if op == HostOp::Flush {
                record.flush_before()
            } else {
                let hint = if keeps.hints { LatencyHint::ALL[*at as usize % 4] } else { LatencyHint::None };
                let stream = if keeps.streams && op == HostOp::Write { *size as u8 % 32 } else { 0 };
                let attributes = Attributes::NONE.with_fua(fua).with_hint(hint).with_stream(stream);
                Record { attributes, ..record }
            }
        };
        drawn.iter().map(record).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn what_is_written_is_read_again(drawn in drawn(), start in 0u64..1 << 33) {
            for format in FORMATS.iter().filter(|f| f.is_written()) {
                let form = form(format, Losses::Refuse);
                let Writing { keeps, read_with, .. } = form.writing().unwrap();
                // Some formats begin at 0, one with Unix time.
                let start = match keeps.clock {
                    crate::reading::writing::Clock::Own => start * 1_000_000_000 / keeps.tick * keeps.tick,
                    crate::reading::writing::Clock::FromStart => 0,
                    crate::reading::writing::Clock::Unix => 1_538_323_199_000_000_000,
                };
                let mut records = made(&drawn, &keeps, start);
                if keeps.clock == crate::reading::writing::Clock::FromStart {
                    let first = records[0].time;
                    records.iter_mut().for_each(|r| r.time -= first);
                }
                let names = names(keeps.volumes);
                let volumes = if keeps.volumes == Naming::None { &names[..1] } else { &names[..] };
                let mut out = Vec::new();
                let written = pipeline(&records, volumes).write(&form, &mut out).unwrap();
                prop_assert_eq!(written.requests, records.len() as u64);
                prop_assert!(written.renamed.is_empty() && written.dropped.is_empty(), "{:?}", written);
                let sample = Sample { bytes: &out, complete: true };
                let detection = (format.detect)(&sample, &read_with);
                let detection = detection.map_err(|m| m.reason).unwrap_or_else(|e| panic!("{}: {e}", format.name));
                let want: Vec<_> = (records.iter())
                    .map(|r| (Record { volume: 0, ..*r }, names[r.volume as usize].to_string()))
                    .collect();
                let name = format.name;
                let have = read(format, &detection.settings, out);
                prop_assert_eq!(have, want, "{}", name);
            }
        }

        #[test]
        fn a_sample_of_pages_is_those_pages_of_every_request(drawn in drawn(), seed in 0u64..4) {
            let records = made(&drawn, &Keeps::ALL, 0);
            let step = Step::SamplePages { share: "30%".parse().unwrap(), seed };
            let sampled = pipeline(&records, &["a", "b", "c"]).then(step.clone());
            let kept: Vec<Record> = sampled.flow.open().unwrap().map(|r| r.unwrap()).collect();
            // Whether a page is in the sample, asked of a request to it alone.
            let is_in = |volume: u16, page: u64| {
                let one = Record { time: 0, offset: page * 4096, bytes: 1, op: HostOp::Read, attributes: Attributes::NONE, volume };
                pipeline(&[one], &["a", "b", "c"]).then(step.clone()).flow.open().unwrap().count() == 1
            };
            let mut want = Vec::new();
            for r in &records {
                if r.op == HostOp::Flush {
                    want.push(*r);
                    continue;
                }
                let mut at = r.offset;
                let mut joined: Option<Record> = None;
                while at < r.offset + r.bytes {
                    let end = (at / 4096 * 4096 + 4096).min(r.offset + r.bytes);
                    match (&mut joined, is_in(r.volume, at / 4096)) {
                        (Some(part), true) => part.bytes += end - at,
                        (None, true) => joined = Some(Record { offset: at, bytes: end - at, ..*r }),
                        (_, false) => want.extend(joined.take()),
                    }
                    at = end;
                }
                want.extend(joined);
            }
            prop_assert_eq!(kept, want);
        }
    }

    fn at(time: u64, offset: u64, op: HostOp) -> Record {
        let bytes = if op == HostOp::Flush { 0 } else { 4096 };
        Record {
            time,
            offset,
            bytes,
            op,
            attributes: Attributes::NONE.with_fua(op == HostOp::Write),
            volume: 0,
        }
    }

    #[test]
    fn losses_are_counted_and_lossless_formats_are_named() {
        let all = [
            at(5, 0, HostOp::Read),
            at(150, 4096, HostOp::Write),
            at(250, 0, HostOp::Flush),
            at(300, 100, HostOp::Trim),
        ];
        let given = pipeline(&all, &["8.16"]);
        let spc = format_named("spc").unwrap();
        let e = given.write(&form(spc, Losses::Refuse), Vec::new()).unwrap_err().to_string();
        for part in
            ["1 flush", "1 trim", "the FUA of 1 write", "wordline, blktrace, blkparse, csv", "--lossy"]
        {
            assert!(e.contains(part), "{part:?} is not in {e}");
        }
        let mut out = Vec::new();
        let written = given.write(&form(spc, Losses::Drop), &mut out).unwrap();
        assert_eq!((written.requests, written.dropped.len()), (2, 3));
        assert_eq!(written.renamed, [("8.16".to_string(), "0".to_string())]);
        assert_eq!(String::from_utf8(out).unwrap(), "0,0,4096,R,0.000000000\n0,8,4096,W,0.000000145\n");
    }

    #[test]
    fn bounds_round_outward_trims_inward_and_long_ones_split() {
        let long = Record { bytes: 6 << 30, ..at(0, 0, HostOp::Trim) };
        let odd = Record { offset: 100, bytes: 500, ..at(0, 0, HostOp::Read) };
        let small = Record { offset: 100, bytes: 500, ..at(0, 0, HostOp::Trim) };
        let blktrace = format_named("blktrace").unwrap();
        let mut out = Vec::new();
        let written =
            pipeline(&[long, odd, small], &["8.16"]).write(&form(blktrace, Losses::Drop), &mut out).unwrap();
        let extents: Vec<_> =
            read(blktrace, &Settings::new(), out).iter().map(|(r, _)| (r.offset, r.bytes)).collect();
        let most = u32::MAX as u64 / 512 * 512;
        assert_eq!(extents, [(0, most), (most, (6 << 30) - most), (0, 1024)]);
        assert_eq!((written.requests, written.dropped.len()), (3, 2), "{:?}", written.dropped);
    }

    #[test]
    fn unnamed_volumes_are_laid_side_by_side() {
        let second = Record { volume: 1, ..at(1, 4096, HostOp::Read) };
        let given = pipeline(&[at(0, 0, HostOp::Read), second], &["a", "b"]);
        let wiscsee = format_named("wiscsee").unwrap();
        let e = given.write(&form(wiscsee, Losses::Refuse), Vec::new()).unwrap_err().to_string();
        assert!(e.contains("the names of 2 volumes"), "{e}");
        let mut out = Vec::new();
        given.write(&form(wiscsee, Losses::Drop), &mut out).unwrap();
        let offsets: Vec<u64> = read(wiscsee, &Settings::new(), out).iter().map(|(r, _)| r.offset).collect();
        assert_eq!(offsets, [0, (1 << 20) + 4096]);
    }

    fn stepped(records: &[Record], step: Step) -> Vec<(u64, u64)> {
        let flow = pipeline(records, &["a", "b"]).then(step).flow;
        flow.open().unwrap().map(|r| r.map(|r| (r.time, r.offset)).unwrap()).collect()
    }

    #[test]
    fn each_step_does_what_it_says() {
        let second = Record { volume: 1, ..at(1_300, 3 << 20, HostOp::Read) };
        let all = [at(1_000, 0, HostOp::Read), at(1_200, (1 << 20) + 512, HostOp::Write), second];
        let time = |from: u64, to: Option<u64>| TimeRange {
            from: wordline_units::SimDuration(from),
            to: to.map(wordline_units::SimDuration),
        };
        let cut = |time, requests: NumberRange, volume: Option<&str>| Step::Cut {
            time,
            requests,
            volume: volume.map(str::to_string),
        };
        let any = NumberRange::default();
        assert_eq!(stepped(&all, cut(time(200, Some(300)), any, None)), [(1_200, (1 << 20) + 512)]);
        assert_eq!(stepped(&all, cut(time(0, None), "1..".parse().unwrap(), None)).len(), 2);
        assert_eq!(stepped(&all, cut(time(0, None), "..1".parse().unwrap(), Some("b"))), [(1_300, 3 << 20)]);
        assert_eq!(stepped(&all, cut(time(0, None), "1..".parse().unwrap(), Some("b"))), []);

        let scale = Step::Scale { time: "2.5".parse().unwrap(), footprint: "0.5".parse().unwrap() };
        assert_eq!(stepped(&all, scale), [(1_000, 0), (1_500, 512), (1_750, 1 << 20)]);

        let looped = |gap: Option<u64>| Step::Loop { times: 2, gap: gap.map(wordline_units::SimDuration) };
        let times = |step| stepped(&all, step).iter().map(|r| r.0).collect::<Vec<_>>();
        assert_eq!(times(looped(Some(7))), [1_000, 1_200, 1_300, 1_307, 1_507, 1_607]);
        assert_eq!(times(looped(None)), [1_000, 1_200, 1_300, 1_450, 1_650, 1_750]);

        let shift = Step::Shift { time: wordline_units::SimDuration(5), offset: wordline_units::Bytes(512) };
        assert_eq!(stepped(&all, shift), [(1_005, 512), (1_205, (1 << 20) + 1024), (1_305, (3 << 20) + 512)]);

        let many: Vec<Record> = (0..20_000).map(|n| at(n, n * 4096, HostOp::Read)).collect();
        for step in [
            Step::SampleRequests { share: "10%".parse().unwrap(), seed: 1 },
            Step::SamplePages { share: "10%".parse().unwrap(), seed: 1 },
        ] {
            let kept = stepped(&many, step.clone());
            assert!((1_870..2_130).contains(&kept.len()), "{step:?}: {}", kept.len());
            assert_eq!(kept, stepped(&many, step), "the same seed gives the same sample");
        }
    }

    #[test]
    fn what_would_go_beyond_all_bounds_is_refused() {
        let late = [at(u64::MAX - 10, 0, HostOp::Read), at(u64::MAX - 5, 1 << 61, HostOp::Read)];
        for step in [
            Step::Scale { time: "9".parse().unwrap(), footprint: Scale::ONE },
            Step::Scale { time: Scale::ONE, footprint: "9".parse().unwrap() },
            Step::Loop { times: 9, gap: None },
            Step::Shift { time: wordline_units::SimDuration(100), offset: wordline_units::Bytes(0) },
            Step::Shift { time: wordline_units::SimDuration(0), offset: wordline_units::Bytes(3 << 60) },
        ] {
            let flow = pipeline(&late, &["a"]).then(step.clone()).flow;
            let e = flow.open().unwrap().find_map(Result::err).unwrap_or_else(|| panic!("{step:?}"));
            assert!(e.to_string().contains("beyond 2^6"), "{e}");
        }
    }
}
