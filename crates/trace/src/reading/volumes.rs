//! Names of volumes, numbered in order of appearance.

use crate::text::numbers::excerpt;
use rustc_hash::FxHashMap;

/// Names of volumes, numbered in order of appearance.
#[derive(Clone, Default)]
pub(crate) struct Volumes {
    labels: Vec<String>,
    unnamed: bool,
    numbers: FxHashMap<Box<[u8]>, u16>,
    /// Recent short names, so that interleaved volumes need no map lookup. Initially empty.
    recent: Vec<Option<(ShortName, u16)>>,
}

/// Size of this cache: 64 KiB, for more volumes than most traces have.
const RECENT: usize = 4096;

/// A name of four to eight bytes as its first and last four, a shorter one as its bytes; and its length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ShortName(u64, usize);

impl ShortName {
    #[inline]
    fn of(key: &[u8]) -> Option<ShortName> {
        let word = match (key.first_chunk::<4>(), key.last_chunk::<4>()) {
            _ if key.len() > 8 => return None,
            (Some(first), Some(last)) => {
                (u32::from_le_bytes(*first) as u64) << 32 | u32::from_le_bytes(*last) as u64
            }
            _ => key.iter().fold(0, |word, c| word << 8 | *c as u64),
        };
        Some(ShortName(word, key.len()))
    }

    /// Its position among [`RECENT`] names.
    #[inline]
    fn slot(self) -> usize {
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT.ilog2())) as usize
    }
}

impl Volumes {
    /// The volumes of a file that has a single volume without a name.
    pub fn unnamed() -> Volumes {
        Volumes { labels: vec!["0".to_string()], unnamed: true, ..Volumes::default() }
    }

    /// Whether the file does not name its volume.
    pub fn are_unnamed(&self) -> bool {
        self.unnamed
    }

    /// The number of the volume called `key`.
    #[inline]
    pub fn number_of(&mut self, key: &[u8]) -> Result<u16, String> {
        let Some(short) = ShortName::of(key) else {
            return self.look_up(key);
        };
        match self.recent.get(short.slot()) {
            Some(Some((name, number))) if *name == short => Ok(*number),
            _ => {
                let number = self.look_up(key)?;
                self.recent.resize(RECENT, None);
                self.recent[short.slot()] = Some((short, number));
                Ok(number)
            }
        }
    }

    fn look_up(&mut self, key: &[u8]) -> Result<u16, String> {
        let number = match self.numbers.get(key) {
            Some(n) => *n,
            None => {
                let number = u16::try_from(self.labels.len())
                    .map_err(|_| "the file holds more than 65,536 volumes".to_string())?;
                self.labels.push(excerpt(key, 64).replace([',', ' '], "."));
                self.numbers.insert(key.into(), number);
                number
            }
        };
        Ok(number)
    }

    /// The names, by number.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }
}
