//! How a file is compressed: detected by its magic number for input, by its name for output.

use serde::Serialize;

/// How a file is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Not compressed.
    Plain,
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// Zstandard.
    Zstd,
    /// LZ4, in frames.
    Lz4,
}

impl Compression {
    const MAGIC: [(&'static [u8], Compression); 6] = [
        (&[0x1f, 0x8b], Compression::Gzip),
        (b"BZh", Compression::Bzip2),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], Compression::Xz),
        (&[0x28, 0xb5, 0x2f, 0xfd], Compression::Zstd),
        // A skippable frame, with which files of parallel compressors begin.
        (&[0x50, 0x2a, 0x4d, 0x18], Compression::Zstd),
        (&[0x04, 0x22, 0x4d, 0x18], Compression::Lz4),
    ];

    /// Compression by the first bytes of a file.
    pub fn of(head: &[u8]) -> Compression {
        Self::MAGIC.iter().find(|(m, _)| head.starts_with(m)).map_or(Compression::Plain, |(_, c)| *c)
    }

    /// The compression for the name of an output file, and the name without its extension.
    pub fn asked_by(name: &str) -> (Compression, &str) {
        const ENDINGS: [(&str, Compression); 5] = [
            (".gz", Compression::Gzip),
            (".bz2", Compression::Bzip2),
            (".xz", Compression::Xz),
            (".zst", Compression::Zstd),
            (".lz4", Compression::Lz4),
        ];
        let asked = ENDINGS.iter().find_map(|(end, c)| Some((*c, name.strip_suffix(end)?)));
        asked.unwrap_or((Compression::Plain, name))
    }

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Compression::Plain => "none",
            Compression::Gzip => "gzip",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
        }
    }
}

/// The error of a build without compression.
#[cfg(not(feature = "compression"))]
pub(crate) fn not_in_this_build() -> std::io::Error {
    std::io::Error::new(
        std::io::ErrorKind::Unsupported,
        "this build has no compression (feature `compression` of wordline-workload)",
    )
}
