//! A small file of each format. Its tests read and damage the file, and its fuzz target starts with it.

/// A small file.
pub struct Example {
    /// The options needed to read it, other than `format=NAME`, each preceded by a comma.
    pub options: &'static str,
    /// Its contents.
    pub body: Body,
}

/// The contents of a small file.
pub enum Body {
    /// One line per request.
    Lines {
        /// The lines before them, with line ends.
        title: &'static str,
        /// The time of a request, by its number.
        time: fn(u64) -> String,
        /// The line of a request at a time, without its end.
        line: fn(&Asked, &str) -> String,
    },
    /// One record per request.
    Records {
        /// The record of a request.
        record: fn(&Asked) -> Vec<u8>,
        /// Places in a record, each with bytes that make it invalid.
        faults: &'static [(usize, &'static [u8])],
    },
    /// Requests that share records.
    Whole(fn(&[Asked]) -> Vec<u8>),
}

/// A request of a small file.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Its number, from 0.
    pub number: u64,
    /// The first sector of 512 bytes.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u64,
    /// Whether it is a read rather than a write.
    pub is_read: bool,
}

impl Asked {
    /// The word for its operation.
    pub fn op(&self, read: &'static str, write: &'static str) -> &'static str {
        if self.is_read { read } else { write }
    }
}

impl Example {
    /// Number of its requests.
    pub const REQUESTS: u64 = 24;

    /// Its lines or records, or the whole file. Addresses are below 1 MiB.
    pub fn pieces(&self) -> Vec<Vec<u8>> {
        let asked = (0..Example::REQUESTS).map(|number| Asked {
            number,
            sector: number * 7 % 200,
            sectors: 8,
            is_read: number.is_multiple_of(3),
        });
        match &self.body {
            Body::Lines { title, time, line } => {
                let lines = asked.map(|r| line(&r, &time(r.number)) + "\n");
                title.split_inclusive('\n').map(str::to_string).chain(lines).map(String::into_bytes).collect()
            }
            Body::Records { record, .. } => asked.map(|r| record(&r)).collect(),
            Body::Whole(made_of) => vec![made_of(&asked.collect::<Vec<_>>())],
        }
    }
}
