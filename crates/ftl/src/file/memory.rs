//! Where tables and state files lie. A system that maps files gives memory where it is touched, and a saved table
//! copy-on-write; where there is no such system, as in a browser, everything lies on the heap.

use std::fs::File;
use std::io;
use std::ops::Deref;

#[cfg(not(any(unix, windows)))]
pub(crate) use heap::Memory;
#[cfg(any(unix, windows))]
pub(crate) use mapped::Memory;

/// Memory begins at a multiple of so many bytes at least: a line of the processor's cache.
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
    /// When the system cannot map it, or where it maps none, cannot read it.
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

    /// So many bytes from an offset on.
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

    pub(crate) struct Memory(MmapMut);

    impl Memory {
        /// So many zeros, and address space for one byte at least.
        ///
        /// # Errors
        /// When there is no address space for it.
        pub fn zeroed(bytes: usize) -> io::Result<Memory> {
            MmapOptions::new().len(bytes.max(1)).no_reserve_swap().map_anon().map(Memory)
        }

        /// What a state file holds from an offset on, a multiple of [`crate::file::state_file::CHUNK`]. The file
        /// reaches to the end of it.
        ///
        /// # Errors
        /// When the file cannot be mapped, or there is no memory for a copy.
        pub fn stored(stored: &Stored, offset: u64, bytes: usize) -> io::Result<Memory> {
            let Stored::Mapped { file, .. } = stored else { return Memory::copied(stored, offset, bytes) };
            let mut options = MmapOptions::new();
            options.offset(offset).len(bytes.max(1)).no_reserve_swap();
            // SAFETY: the mapping is private, so nothing is written to the file. That nobody changes or cuts the
            // file meanwhile is for its owner to see to: a snapshot's has no name, and a state file is replaced as
            // a whole, never written to.
            Ok(Memory(unsafe { options.map_copy(file)? }))
        }

        fn copied(stored: &Stored, offset: u64, bytes: usize) -> io::Result<Memory> {
            let mut memory = Memory::zeroed(bytes)?;
            memory[..bytes].copy_from_slice(stored.part(offset, bytes)?);
            Ok(memory)
        }

        /// A wish: without huge pages the memory is as good.
        pub fn ask_for_huge_pages(&self) {
            #[cfg(target_os = "linux")]
            let _ = self.0.advise(memmap2::Advice::HugePage);
        }
    }

    impl Deref for Memory {
        type Target = [u8];
        #[inline(always)]
        fn deref(&self) -> &[u8] {
            &self.0
        }
    }

    impl DerefMut for Memory {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
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
        /// So many zeros, and one byte at least.
        ///
        /// # Errors
        /// When there is no memory for it.
        pub fn zeroed(bytes: usize) -> io::Result<Memory> {
            let lines = bytes.max(1).div_ceil(ALIGNMENT);
            let memory = bytemuck::try_zeroed_vec(lines).map_err(|()| io::ErrorKind::OutOfMemory)?;
            Ok(Memory(memory))
        }

        /// What a state file holds from an offset on.
        ///
        /// # Errors
        /// When it ends before, or there is no memory for it.
        pub fn stored(stored: &Stored, offset: u64, bytes: usize) -> io::Result<Memory> {
            let mut memory = Memory::zeroed(bytes)?;
            memory[..bytes].copy_from_slice(stored.part(offset, bytes)?);
            Ok(memory)
        }

        /// The heap has none.
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
    fn memory_on_the_heap_is_zero_at_first_and_takes_what_a_state_holds_and_no_more() {
        let memory = heap::Memory::zeroed(17).unwrap();
        assert!(memory.len() >= 17 && memory.iter().all(|b| *b == 0));
        let stored = Stored::Bytes((0..100).collect());
        let both = (heap::Memory::stored(&stored, 90, 10).unwrap(), Memory::stored(&stored, 90, 10).unwrap());
        assert_eq!((&both.0[..10], &both.1[..10]), (&stored[90..], &stored[90..]));
        assert!(heap::Memory::stored(&stored, 90, 11).is_err() && Memory::stored(&stored, 90, 11).is_err());
        assert!(heap::Memory::zeroed(usize::MAX).is_err());
    }
}
