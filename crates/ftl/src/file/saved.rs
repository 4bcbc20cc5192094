//! The state of a drive, written and read back, in mid-flight too: everything pending is plain data.
//!
//! What changes as a drive works is saved. What follows from the device description and the scheme's
//! layout is built again and not saved. Each struct lists its fields as the one or the other with
//! [`saved_fields!`](crate::saved_fields), which takes the struct apart, so that a new field cannot be
//! forgotten.

use crate::file::state_file::{
    APART, About, BYTE_ORDER, CHUNK, FORMAT, MAGIC, StateError, StateFile, TableAt, is_zero,
};
use crate::file::table::Table;
use bytemuck::Pod;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use std::hash::BuildHasher;
use std::io::{self, Seek, SeekFrom, Write};
use twox_hash::{XxHash3_64, XxHash3_128};

/// A type whose state is saved, and loaded in place; everything that is not saved has been rebuilt before.
pub trait Saved {
    /// Write what changes.
    ///
    /// # Errors
    /// When the file cannot be written.
    fn save(&self, to: &mut Saver) -> io::Result<()>;

    /// Read it back.
    ///
    /// # Errors
    /// When the state is of another version, or damaged.
    fn load(&mut self, from: &mut Loader) -> Result<(), StateError>;
}

/// [`Saved`] for a struct from the names of its fields: `values` are written whole, `parts` in place,
/// and what is `rebuilt` is left alone. What may be kept outside the file is `apart`, a part otherwise.
#[macro_export]
macro_rules! saved_fields {
    (
        $of:ident,
        $(apart: [$apart:ident],)?
        values: [$($value:ident),* $(,)?],
        parts: [$($part:ident),* $(,)?],
        rebuilt: [$($rebuilt:ident),* $(,)?] $(,)?
    ) => {
        fn save(&self, to: &mut $crate::Saver) -> ::std::io::Result<()> {
            let $of { $($apart,)? $($value,)* $($part,)* $($rebuilt: _,)* } = self;
            to.shape(concat!(stringify!($of) $(, " ", stringify!($apart))? $(, " ", stringify!($value))* $(, " ", stringify!($part))*))?;
            $(to.apart($apart)?;)?
            $(to.value($value)?;)*
            $($crate::Saved::save($part, to)?;)*
            Ok(())
        }

        fn load(&mut self, from: &mut $crate::Loader) -> ::std::result::Result<(), $crate::StateError> {
            from.shape(
                stringify!($of),
                concat!(stringify!($of) $(, " ", stringify!($apart))? $(, " ", stringify!($value))* $(, " ", stringify!($part))*),
            )?;
            $(from.apart(&mut self.$apart)?;)?
            $(self.$value = from.value(concat!(stringify!($of), ".", stringify!($value)))?;)*
            $($crate::Saved::load(&mut self.$part, from)?;)*
            Ok(())
        }
    };
}

pub(crate) use saved_fields as saved;

/// Writes a state.
pub struct Saver<'a> {
    file: &'a mut dyn Target,
    /// Where the next table may begin.
    end: u64,
    tables: Vec<TableAt>,
    fields: Vec<u8>,
    /// Whether media stay outside.
    apart: bool,
    /// Whether tables stand among the fields.
    packed: bool,
}

trait Target: Write + Seek {}
impl<T: Write + Seek> Target for T {}

impl std::fmt::Debug for Saver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Saver").field("end", &self.end).finish_non_exhaustive()
    }
}

fn encode<T: Serialize + ?Sized>(value: &T, into: Vec<u8>) -> io::Result<Vec<u8>> {
    postcard::to_extend(value, into).map_err(io::Error::other)
}

impl<'a> Saver<'a> {
    /// Begin at the start of an empty file.
    pub fn new(file: &'a mut (impl Write + Seek)) -> Saver<'a> {
        Saver { file, end: CHUNK as u64, tables: vec![], fields: vec![], apart: false, packed: false }
    }

    /// The same without the flash contents, which the caller provides when the state is restored.
    pub fn without_media(file: &'a mut (impl Write + Seek)) -> Saver<'a> {
        Saver { apart: true, ..Saver::new(file) }
    }

    /// A part that may be stored elsewhere.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn apart<T: Saved>(&mut self, part: &T) -> io::Result<()> {
        if self.apart { Ok(()) } else { part.save(self) }
    }

    /// The names of the following fields, so that a different list of fields is detected.
    ///
    /// # Errors
    /// Never; for the sake of [`saved_fields!`](crate::saved_fields).
    pub fn shape(&mut self, fields: &str) -> io::Result<()> {
        self.value(&(XxHash3_64::oneshot(fields.as_bytes()) as u32))
    }

    /// One value.
    ///
    /// # Errors
    /// When it cannot be serialized.
    pub fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> io::Result<()> {
        self.fields = encode(value, std::mem::take(&mut self.fields))?;
        Ok(())
    }

    fn table<T: Pod>(&mut self, table: &Table<T>) -> io::Result<()> {
        let bytes = table.bytes();
        if self.packed {
            self.fields.extend(bytes);
            return Ok(());
        }
        let written = table.written(CHUNK);
        let is_untouched = |i: usize| written.as_ref().and_then(|w| w.get(i)).is_some_and(|written| !written);
        let mut chunks = vec![];
        for (i, chunk) in bytes.chunks(CHUNK).enumerate() {
            // What nobody has written is not even looked at, since that would have the system provide it.
            if is_untouched(i) || is_zero(chunk) {
                continue;
            }
            self.file.seek(SeekFrom::Start(self.end + (i * CHUNK) as u64))?;
            self.file.write_all(chunk)?;
            chunks.push((i as u64, XxHash3_64::oneshot(chunk)));
        }
        self.tables.push(TableAt { offset: self.end, bytes: bytes.len() as u64, chunks });
        self.end += (bytes.len().max(1).div_ceil(CHUNK) * CHUNK) as u64;
        Ok(())
    }

    /// The state of a small drive as bytes only, including the tables, to compare states and to return to one within a
    /// run. [`StateFile::packed`] reads them.
    ///
    /// # Errors
    /// When it cannot be serialized.
    pub fn pack(state: &impl Saved) -> io::Result<Vec<u8>> {
        let mut nowhere = io::Cursor::new(vec![]);
        let mut to = Saver { packed: true, ..Saver::new(&mut nowhere) };
        state.save(&mut to)?;
        Ok(to.fields)
    }

    /// Write the body, and the header that completes the state file. Returns the body's checksum.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(self, about: &About) -> io::Result<String> {
        let mut body = encode(about, vec![])?;
        body = encode(&self.tables, body)?;
        body.extend(self.fields);
        let hash = XxHash3_128::oneshot(&body);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&body)?;
        self.file.flush()?;
        let mut header = MAGIC.to_vec();
        header.extend((FORMAT | if self.apart { APART } else { 0 }).to_le_bytes());
        header.extend(BYTE_ORDER.to_ne_bytes());
        header.extend(self.end.to_le_bytes());
        header.extend((body.len() as u64).to_le_bytes());
        header.extend(hash.to_le_bytes());
        header.extend(XxHash3_64::oneshot(&header).to_le_bytes());
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header)?;
        self.file.flush()?;
        Ok(format!("{hash:032x}"))
    }
}

/// Reads a state.
#[derive(Debug)]
pub struct Loader<'a> {
    state: &'a StateFile,
    at: usize,
    table: usize,
}

impl Loader<'_> {
    /// Read a state, into what has been newly built.
    pub fn of(state: &StateFile) -> Loader<'_> {
        Loader { state, at: state.fields.start, table: 0 }
    }

    /// Verify that the following fields are those that were saved.
    ///
    /// # Errors
    /// When they differ.
    pub fn shape(&mut self, of: &str, fields: &str) -> Result<(), StateError> {
        if self.value::<u32>(of)? == XxHash3_64::oneshot(fields.as_bytes()) as u32 {
            return Ok(());
        }
        Err(self.other(of))
    }

    pub(crate) fn other(&self, part: &str) -> StateError {
        StateError::OtherVersion { part: part.to_string(), version: self.state.about.version.clone() }
    }

    /// One value; `of` names the owner, for errors.
    ///
    /// # Errors
    /// When the bytes are not such a value.
    pub fn value<T: DeserializeOwned>(&mut self, of: &str) -> Result<T, StateError> {
        let bytes = &self.state.bytes[self.at..];
        let (value, rest) = postcard::take_from_bytes(bytes).map_err(|_| self.other(of))?;
        self.at = self.state.bytes.len() - rest.len();
        Ok(value)
    }

    /// A part that may be stored elsewhere: it is then left unchanged.
    ///
    /// # Errors
    /// When the bytes are not such a part.
    pub fn apart<T: Saved>(&mut self, part: &mut T) -> Result<(), StateError> {
        if self.state.apart { Ok(()) } else { part.load(self) }
    }

    /// Verify that the scheme divides the drive as it did, by [`Layout::fingerprint`](crate::Layout::fingerprint).
    ///
    /// # Errors
    /// When it does not.
    pub fn divided_as(&self, fingerprint: u64) -> Result<(), StateError> {
        if fingerprint == self.state.about.layout { Ok(()) } else { Err(self.other("layout")) }
    }

    /// Verify that all bytes have been read.
    ///
    /// # Errors
    /// When some are left.
    pub fn finish(self) -> Result<(), StateError> {
        if self.at == self.state.fields.end && self.table == self.state.tables.len() {
            return Ok(());
        }
        Err(self.other("list of parts"))
    }
}

impl<T: Pod> Saved for Table<T> {
    fn save(&self, to: &mut Saver) -> io::Result<()> {
        to.table(self)
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        if from.state.packed {
            let end = from.at + self.bytes().len();
            let bytes = from.state.bytes.get(from.at..end).ok_or_else(|| from.other("size of a table"))?;
            self.fill_with(bytes);
            from.at = end;
            return Ok(());
        }
        let at = from.state.tables.get(from.table);
        let at = at.filter(|at| at.bytes == self.bytes().len() as u64);
        let at = at.ok_or_else(|| from.other("size of a table"))?;
        from.table += 1;
        let given = at.chunks.iter().map(|(chunk, _)| *chunk).collect();
        Ok(self.take(&from.state.bytes, at.offset, given)?)
    }
}

impl<T: Saved> Saved for Vec<T> {
    fn save(&self, to: &mut Saver) -> io::Result<()> {
        to.value(&self.len())?;
        self.iter().try_for_each(|part| part.save(to))
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        if from.value::<usize>("number of parts")? != self.len() {
            return Err(from.other("number of parts"));
        }
        self.iter_mut().try_for_each(|part| part.load(from))
    }
}

/// The learned state of a scheme. Any type that serde can write and read.
pub trait Memory {
    /// As bytes.
    ///
    /// # Errors
    /// When serde cannot write it.
    fn to_bytes(&self) -> io::Result<Vec<u8>>;

    /// From such bytes. Returns whether they were such.
    fn set(&mut self, bytes: &[u8]) -> bool;
}

impl<T: Serialize + DeserializeOwned> Memory for T {
    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        encode(self, vec![])
    }

    fn set(&mut self, bytes: &[u8]) -> bool {
        postcard::from_bytes(bytes).map(|value| *self = value).is_ok()
    }
}

/// A hash map in the order of its keys, so that one state is one file.
pub(crate) fn sorted<K: Serialize + Ord, V: Serialize, H: BuildHasher, S: Serializer>(
    map: &std::collections::HashMap<K, V, H>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut entries: Vec<(&K, &V)> = map.iter().collect();
    entries.sort_unstable_by_key(|(k, _)| *k);
    serializer.collect_map(entries)
}

/// A hash set in the order of its values.
pub(crate) fn sorted_set<T: Serialize + Ord, H: BuildHasher, S: Serializer>(
    set: &std::collections::HashSet<T, H>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut values: Vec<&T> = set.iter().collect();
    values.sort_unstable();
    serializer.collect_seq(values)
}
