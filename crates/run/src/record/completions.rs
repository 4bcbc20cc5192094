//! Completions, one row each: CSV after a comment line of JSON, or Parquet by the file's name, with the same
//! columns and the same JSON in its metadata.

use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::record::output::Output;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use wordline_ftl::LatencyPart;
use wordline_sim::Completion;

/// The integer columns: number, address, length, times, and the latency parts.
pub const NUMBERS: usize = 5 + LatencyPart::COUNT;

/// The columns in order: the request, then the parts of its latency, which add up to it.
pub(crate) fn columns() -> impl Iterator<Item = String> {
    let request = ["number", "op", "lba", "blocks", "arrival_ns", "completion_ns", "outcome"];
    let parts = LatencyPart::ALL.map(|part| format!("{}_ns", part.key()));
    request.map(str::to_string).into_iter().chain(parts)
}

/// Extensions of tables in other formats. A name with one of them asks for what is not written.
const OTHER_TABLES: [&str; 9] = ["xlsx", "xls", "ods", "json", "jsonl", "feather", "arrow", "h5", "pkl"];

/// The columns of words; all others are integers.
pub const WORDS: [&str; 2] = ["op", "outcome"];

pub(crate) fn numbers(c: &Completion) -> [u64; NUMBERS] {
    let r = &c.request;
    let mut all = [0; NUMBERS];
    all[..5].copy_from_slice(&[c.number, r.lba.0, r.blocks as u64, r.arrival.0, c.at.0]);
    all[5..].copy_from_slice(c.parts.nanoseconds());
    all
}

/// Information about the run for a reader.
fn header(setup: &Setup, scheme: &str) -> Value {
    json!({
        "completions": "wordline.completions/1",
        "version": crate::ask::spec::VERSION,
        "device": setup.device.name,
        "scheme": scheme,
        "workload": setup.workload.name(),
        "seed": setup.spec.seed,
        "lba_bytes": wordline_units::LBA_BYTES,
    })
}

/// Rows of CSV under way.
pub(crate) struct Csv {
    out: Output,
    line: String,
}

/// The file of a run's completions.
pub(crate) enum Completions {
    Csv(Box<Csv>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet_file::Table>),
}

impl Completions {
    /// Make sure that the file can be written.
    pub fn open(path: &Path) -> Result<Completions, RunError> {
        if path.extension().is_some_and(|e| e == "parquet") {
            #[cfg(feature = "parquet")]
            return Ok(Completions::Parquet(Box::new(parquet_file::Table::open(path)?)));
            #[cfg(not(feature = "parquet"))]
            return Err((wordline_units::Opt::Completions.of(path.display())
                + ": this binary cannot write Parquet\n  allowed: CSV (a name without .parquet)\n  hint: \
                   the Python package can, and so can a binary built with `cargo install --path crates/cli \
                   --features parquet`")
                .into());
        }
        if path.extension().is_some_and(|e| OTHER_TABLES.iter().any(|other| e.eq_ignore_ascii_case(other))) {
            return Err((wordline_units::Opt::Completions.of(path.display())
                + ": completions are written as CSV or Parquet; name a file in .csv or .parquet")
                .into());
        }
        Ok(Completions::Csv(Box::new(Csv { out: Output::open(path)?, line: String::new() })))
    }

    /// Everything known before the first request.
    pub fn begin(&mut self, setup: &Setup, scheme: &str) -> Result<(), RunError> {
        let header = header(setup, scheme);
        match self {
            Completions::Csv(csv) => {
                let columns: Vec<String> = columns().collect();
                csv.out.write(&format!("# {header}\n{}\n", columns.join(",")))
            }
            #[cfg(feature = "parquet")]
            Completions::Parquet(table) => {
                table.describe(&header);
                Ok(())
            }
        }
    }

    /// A request has ended.
    pub fn row(&mut self, c: &Completion) -> Result<(), RunError> {
        match self {
            Completions::Csv(csv) => {
                let Csv { out, line } = csv.as_mut();
                line.clear();
                let [number, lba, blocks, arrival, at, parts @ ..] = numbers(c);
                let (op, outcome) = (c.request.op.key(), c.outcome.key());
                // Writing to a string cannot fail.
                let _ = write!(line, "{number},{op},{lba},{blocks},{arrival},{at},{outcome}");
                for part in parts {
                    let _ = write!(line, ",{part}");
                }
                line.push('\n');
                out.write(line)
            }
            #[cfg(feature = "parquet")]
            Completions::Parquet(table) => table.row(c),
        }
    }

    /// Write the rest, and give the file its name.
    pub fn finish(self) -> Result<(), RunError> {
        match self {
            Completions::Csv(csv) => csv.out.finish(),
            #[cfg(feature = "parquet")]
            Completions::Parquet(table) => table.finish(),
        }
    }
}

#[cfg(feature = "parquet")]
mod parquet_file {
    use super::{NUMBERS, WORDS, columns, numbers};
    use crate::error::RunError;
    use crate::record::output::{Target, failed};
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::ByteArray;
    use parquet::errors::ParquetError;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use serde_json::Value;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use wordline_sim::Completion;

    /// Buffered rows per write.
    const GROUP: usize = 1 << 16;

    /// A table under way.
    pub(crate) struct Table {
        path: PathBuf,
        writer: SerializedFileWriter<Target>,
        numbers: [Vec<i64>; NUMBERS],
        words: [Vec<ByteArray>; WORDS.len()],
    }

    impl Table {
        pub fn open(path: &Path) -> Result<Table, RunError> {
            let target = Target::open(path)?;
            let fields: String = columns()
                .map(|name| match WORDS.contains(&name.as_str()) {
                    true => format!("required binary {name} (UTF8); "),
                    false => format!("required int64 {name}; "),
                })
                .collect();
            let schema = format!("message completions {{ {fields}}}");
            let zstd = Compression::ZSTD(ZstdLevel::default());
            let properties = Arc::new(WriterProperties::builder().set_compression(zstd).build());
            let writer = parse_message_type(&schema)
                .and_then(|schema| SerializedFileWriter::new(target, Arc::new(schema), properties))
                .map_err(|e| failed(path, &e))?;
            let (numbers, words) = Default::default();
            Ok(Table { path: path.to_path_buf(), writer, numbers, words })
        }

        /// The JSON that goes with the table.
        pub fn describe(&mut self, header: &Value) {
            let about = KeyValue::new("wordline".to_string(), header.to_string());
            self.writer.append_key_value_metadata(about);
        }

        pub fn row(&mut self, c: &Completion) -> Result<(), RunError> {
            for (column, number) in self.numbers.iter_mut().zip(numbers(c)) {
                column.push(number as i64);
            }
            for (column, word) in self.words.iter_mut().zip([c.request.op.key(), c.outcome.key()]) {
                column.push(ByteArray::from(word));
            }
            if self.words[0].len() == GROUP { self.write_group() } else { Ok(()) }
        }

        fn write_group(&mut self) -> Result<(), RunError> {
            self.try_write_group().map_err(|e| failed(&self.path, &e))
        }

        fn try_write_group(&mut self) -> Result<(), ParquetError> {
            let mut group = self.writer.next_row_group()?;
            let (mut numbers, mut words) = (self.numbers.iter_mut(), self.words.iter_mut());
            while let Some(mut column) = group.next_column()? {
                match column.untyped() {
                    ColumnWriter::Int64ColumnWriter(to) => {
                        let values = numbers.next().map(std::mem::take).unwrap_or_default();
                        to.write_batch(&values, None, None)?;
                    }
                    ColumnWriter::ByteArrayColumnWriter(to) => {
                        let values = words.next().map(std::mem::take).unwrap_or_default();
                        to.write_batch(&values, None, None)?;
                    }
                    _ => unreachable!("a column is a whole number or a word"),
                }
                column.close()?;
            }
            group.close()?;
            Ok(())
        }

        pub fn finish(mut self) -> Result<(), RunError> {
            if !self.words[0].is_empty() {
                self.write_group()?;
            }
            let Table { path, writer, .. } = self;
            let target = writer.into_inner().map_err(|e| failed(&path, &e))?;
            target.finish(&path).map_err(|e| failed(&path, &e))
        }
    }
}
