//! Where tables and state files lie. A system that maps files gives memory where it is touched, and a saved table
//! copy-on-write; where there is no such system, as in a browser, everything lies on the heap.

use std::fs::File;
use std::io;
use std::ops::Deref;

#[cfg(not(any(unix, windows)))]
pub(crate) use heap::Memory;
#[cfg(any(unix, windows))]
pub(crate) use mapped::Memory;

/// Memory begins at a multiple of this many bytes at least: a line of the processor's cache.
pub(crate) const ALIGNMENT: usize = 64;

/// The bytes of a state file.
#[derive(Debug)]
pub(crate) enum Stored {
    /// A file, mapped to be read.
    #[cfg(any(unix, windows))]
    Mapped {
        /// The file, of which tables make mappings of their own.
        file: File,
        /// All of it.
        all: memmap2::Mmap,
    },
    /// A copy.
    Bytes(Vec<u8>),
}

impl Stored {
    /// A whole file.
    ///
    /// # Errors
    /// When the system cannot map it, or, on systems without mapping, cannot read it.
    #[cfg(any(unix, windows))]
    pub fn of(file: File) -> io::Result<Stored> {
        // SAFETY: it is read as bytes only; about its owner see [`Memory::stored`].
        let all = unsafe { memmap2::MmapOptions::new().map_copy_read_only(&file)? };
        Ok(Stored::Mapped { file, all })
    }

    /// A whole file.
    ///
    /// # Errors
    /// When it cannot be read.
    #[cfg(not(any(unix, windows)))]
    pub fn of(mut file: File) -> io::Result<Stored> {
        use std::io::{Read, Seek};
        let mut bytes = vec![];
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(Stored::Bytes(bytes))
    }

    /// This many bytes from an offset on.
    fn part(&self, offset: u64, bytes: usize) -> io::Result<&[u8]> {
        let from = usize::try_from(offset).ok();
        let part = from.and_then(|from| self.get(from..from.checked_add(bytes)?));
        part.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

impl Deref for Stored {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            #[cfg(any(unix, windows))]
            Stored::Mapped { all, .. } => all,
            Stored::Bytes(bytes) => bytes,
        }
    }
}

/// Memory by mappings, which begin on a page of the system.
#[cfg(any(unix, windows))]
mod mapped {
    use super::Stored;
    use memmap2::{MmapMut, MmapOptions};
    use std::io;
    use std::ops::{Deref, DerefMut};

    pub(crate) struct Memory {
        map: MmapMut,
        /// Of what a state file has given, which of its chunks are not all zeros.
        given: Vec<u64>,
    }

    impl Memory {
        /// This many zeros, and address space for one byte at least.
        ///
        /// # Errors
        /// When there is no address space for it.
        pub fn zeroed(bytes: usize) -> io::Result<Memory> {
            let map = MmapOptions::new().len(bytes.max(1)).no_reserve_swap().map_anon()?;
            Ok(Memory { map, given: vec![] })
        }

        /// The contents of a state file from an offset on, a multiple of [`crate::file::state_file::CHUNK`]. The file
        /// must extend to the end of the memory; `given` lists the chunks that are not all zeros.
        ///
        /// # Errors
        /// When the file cannot be mapped, or there is no memory for a copy.
        pub fn stored(stored: &Stored, offset: u64, bytes: usize, given: Vec<u64>) -> io::Result<Memory> {
            let Stored::Mapped { file, .. } = stored else { return Memory::copied(stored, offset, bytes) };
            let mut options = MmapOptions::new();
            options.offset(offset).len(bytes.max(1)).no_reserve_swap();
            // SAFETY: the mapping is private, so nothing is written to the file. That nobody changes or cuts the
            // file meanwhile is for its owner to see to: a snapshot's has no name, and a state file is replaced as
            // a whole, never written to.
            let map = unsafe { options.map_copy(file)? };
            Ok(Memory { map, given })
        }

        fn copied(stored: &Stored, offset: u64, bytes: usize) -> io::Result<Memory> {
            let mut memory = Memory::zeroed(bytes)?;
            memory[..bytes].copy_from_slice(stored.part(offset, bytes)?);
            Ok(memory)
        }

        /// For each chunk of this many bytes, whether it may hold anything but zeros; nothing where the system does not
        /// report which pages were written. Reading the pages would make the system allocate them all.
        pub fn written(&self, chunk: usize) -> Option<Vec<bool>> {
            let mut written = super::pages::written(&self.map, chunk)?;
            for at in &self.given {
                *written.get_mut(usize::try_from(*at).ok()?)? = true;
            }
            Some(written)
        }

        /// A hint only: the memory also works without huge pages.
        pub fn ask_for_huge_pages(&self) {
            #[cfg(target_os = "linux")]
            let _ = self.map.advise(memmap2::Advice::HugePage);
        }
    }

    impl Deref for Memory {
        type Target = [u8];
        #[inline(always)]
        fn deref(&self) -> &[u8] {
            &self.map
        }
    }

    impl DerefMut for Memory {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut [u8] {
            &mut self.map
        }
    }
}

/// Which pages of a private mapping have been written: the kernel's table of them (Documentation/admin-guide/mm/pagemap.rst).
#[cfg(target_os = "linux")]
mod pages {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;
    use std::sync::LazyLock;

    /// Bits of an entry: in memory; swapped out; of a file, or shared.
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const NOT_OWN: u64 = 1 << 61;

    /// The table, if it tells a page that has been written from one that nobody has asked for. One that has been read alone,
    /// the system's page of zeros, passes for written with some kernels.
    static TABLE: LazyLock<Option<File>> = LazyLock::new(|| {
        let table = File::open("/proc/self/pagemap").ok()?;
        let page = rustix::param::page_size();
        let mut tried = memmap2::MmapOptions::new().len(2 * page).map_anon().ok()?;
        tried[0] = 1;
        (read_table(&table, &tried, page).ok()? == [true, false]).then_some(table)
    });

    fn read_table(table: &File, map: &[u8], page: usize) -> io::Result<Vec<bool>> {
        let mut entries = vec![0; map.len().div_ceil(page) * 8];
        table.read_exact_at(&mut entries, (map.as_ptr() as usize / page * 8) as u64)?;
        let own = |entry: u64| entry & SWAPPED != 0 || entry & (PRESENT | NOT_OWN) == PRESENT;
        let entry = |bytes: &[u8]| u64::from_ne_bytes(std::array::from_fn(|i| bytes[i]));
        Ok(entries.chunks_exact(8).map(|bytes| own(entry(bytes))).collect())
    }

    /// Of each chunk of a mapping whether a page of it has been written.
    pub(super) fn written(map: &[u8], chunk: usize) -> Option<Vec<bool>> {
        let page = rustix::param::page_size();
        let pages = read_table(TABLE.as_ref()?, map, page).ok()?;
        let of = |at: usize| at * chunk / page..((at + 1) * chunk).div_ceil(page).min(pages.len());
        Some((0..map.len().div_ceil(chunk)).map(|at| pages[of(at)].contains(&true)).collect())
    }
}

#[cfg(all(any(unix, windows), not(target_os = "linux")))]
mod pages {
    /// Other systems are not asked.
    pub(super) fn written(_: &[u8], _: usize) -> Option<Vec<bool>> {
        None
    }
}

/// Memory from the heap, aligned to [`ALIGNMENT`].
#[cfg(any(test, not(any(unix, windows))))]
mod heap {
    use super::{ALIGNMENT, Stored};
    use bytemuck::{Pod, Zeroable};
    use std::io;
    use std::ops::{Deref, DerefMut};

    #[derive(Clone, Copy, Zeroable, Pod)]
    #[repr(C, align(64))]
    struct Line([u8; ALIGNMENT]);

    pub(crate) struct Memory(Vec<Line>);

    impl Memory {
        /// This many zeros, and one byte at least.
        ///
        /// # Errors
        /// When there is no memory for it.
        pub fn zeroed(bytes: usize) -> io::Result<Memory> {
            let lines = bytes.max(1).div_ceil(ALIGNMENT);
            let memory = bytemuck::try_zeroed_vec(lines).map_err(|()| io::ErrorKind::OutOfMemory)?;
            Ok(Memory(memory))
        }

        /// The contents of a state file from an offset on.
        ///
        /// # Errors
        /// When the file ends earlier, or there is no memory for it.
        pub fn stored(stored: &Stored, offset: u64, bytes: usize, _: Vec<u64>) -> io::Result<Memory> {
            let mut memory = Memory::zeroed(bytes)?;
            memory[..bytes].copy_from_slice(stored.part(offset, bytes)?);
            Ok(memory)
        }

        /// Nobody knows.
        #[cfg_attr(test, allow(dead_code))]
        pub fn written(&self, _: usize) -> Option<Vec<bool>> {
            None
        }

        /// The heap does not know.
        #[cfg_attr(test, allow(dead_code))]
        pub fn ask_for_huge_pages(&self) {}
    }

    impl Deref for Memory {
        type Target = [u8];
        #[inline(always)]
        fn deref(&self) -> &[u8] {
            bytemuck::cast_slice(&self.0)
        }
    }

    impl DerefMut for Memory {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut [u8] {
            bytemuck::cast_slice_mut(&mut self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heap_memory_starts_zeroed_and_holds_one_state() {
        let memory = heap::Memory::zeroed(17).unwrap();
        assert!(memory.len() >= 17 && memory.iter().all(|b| *b == 0));
        let stored = Stored::Bytes((0..100).collect());
        let both = (
            heap::Memory::stored(&stored, 90, 10, vec![]).unwrap(),
            Memory::stored(&stored, 90, 10, vec![]).unwrap(),
        );
        assert_eq!((&both.0[..10], &both.1[..10]), (&stored[90..], &stored[90..]));
        assert!(heap::Memory::stored(&stored, 90, 11, vec![]).is_err());
        assert!(Memory::stored(&stored, 90, 11, vec![]).is_err());
        assert!(heap::Memory::zeroed(usize::MAX).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn written_memory_differs_from_untouched_and_loaded() {
        const CHUNK: usize = 64 << 10;
        let mut memory = Memory::zeroed(5 * CHUNK + 9).unwrap();
        memory[CHUNK + 7] = 1;
        memory[5 * CHUNK] = 2;
        let Some(written) = memory.written(CHUNK) else { return }; // a kernel that does not tell
        assert_eq!(written, [false, true, false, false, false, true]);
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &memory).unwrap();
        let stored = Stored::of(file).unwrap();
        let mut copy = Memory::stored(&stored, 0, 5 * CHUNK + 9, vec![1, 5]).unwrap();
        assert_eq!(std::hint::black_box(copy[2 * CHUNK]), 0);
        copy[3 * CHUNK] = 3;
        assert_eq!(copy.written(CHUNK).unwrap(), [false, true, false, true, false, true]);
    }
}
