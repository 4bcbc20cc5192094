//! Large tables of plain values, in memory that the system provides only where it is touched. A
//! drive of terabytes costs what its footprint costs, and nothing at the start. A table that was
//! saved is mapped from its file copy-on-write: read where it is touched, copied where it changes.

use crate::file::memory::{ALIGNMENT, Memory, Stored};
use bytemuck::Pod;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A table of this many values, each all zeros at first.
pub(crate) struct Table<T> {
    memory: Memory,
    len: usize,
    of: PhantomData<T>,
}

/// Tables up to this many bytes are held in huge pages wherever they are touched.
const SMALL: usize = 256 << 20;

impl<T: Pod> Table<T> {
    /// A table with scattered accesses. A small table asks the system for huge pages, as [`Self::dense`] does; in a
    /// large one they would allocate much unused memory.
    ///
    /// # Errors
    /// When the system has no address space for it.
    pub fn zeroed(len: usize) -> io::Result<Table<T>> {
        let table = Table::reserved(len)?;
        if table.memory.len() <= SMALL {
            table.memory.ask_for_huge_pages();
        }
        Ok(table)
    }

    /// The same for a table that fills from its start and has random accesses. It asks the system for huge pages,
    /// because the TLB covers few small ones, and even a prefetch waits for a TLB miss.
    ///
    /// # Errors
    /// As [`Self::zeroed`].
    pub fn dense(len: usize) -> io::Result<Table<T>> {
        let table = Table::reserved(len)?;
        table.memory.ask_for_huge_pages();
        Ok(table)
    }

    fn reserved(len: usize) -> io::Result<Table<T>> {
        let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok()); // as a slice needs
        let bytes = bytes.ok_or(io::ErrorKind::OutOfMemory)?;
        const { assert!(align_of::<T>() <= ALIGNMENT) };
        Ok(Table { memory: Memory::zeroed(bytes)?, len, of: PhantomData })
    }

    /// Use the contents of a state file from an offset on as the values of the table. The offset is a multiple of
    /// [`crate::file::state_file::CHUNK`], and the file reaches to the table's end; `given` are the chunks that are not
    /// all zeros.
    ///
    /// # Errors
    /// When the file cannot be mapped.
    pub fn take(&mut self, stored: &Stored, offset: u64, given: Vec<u64>) -> io::Result<()> {
        self.memory = Memory::stored(stored, offset, self.bytes().len(), given)?; // any bytes are a T (`Pod`)
        Ok(())
    }

    /// For each chunk of this many bytes, whether it may hold anything but zeros, where that is known.
    pub fn written(&self, chunk: usize) -> Option<Vec<bool>> {
        self.memory.written(chunk)
    }

    /// Copy the values from this many bytes.
    pub fn fill_with(&mut self, bytes: &[u8]) {
        bytemuck::cast_slice_mut(self).copy_from_slice(bytes);
    }

    /// The values as the bytes they are.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

impl<T: Pod> Deref for Table<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the memory is aligned for T (`reserved`); it holds at least `len` of them,
        // and any bytes are a T (`Pod`); `self` borrows it.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.len) }
    }
}

impl<T: Pod> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` borrows it alone.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.len) }
    }
}

/// Bytes that a cache loads at once.
const LINE: usize = 64;

/// Ask the processor for an element of a table, with each cache line that it may lie in; a hint that reads nothing.
#[inline(always)]
pub fn fetch<T>(table: &[T], at: usize) {
    let Some(element) = table.get(at) else { return };
    let first: *const u8 = std::ptr::from_ref(element).cast();
    for offset in (0..size_of::<T>()).step_by(LINE) {
        fetch_line(first.wrapping_add(offset));
    }
    // Where it need not begin with a line, it may end in one more.
    if !LINE.is_multiple_of(size_of::<T>().max(1)) && align_of::<T>() < LINE {
        fetch_line(first.wrapping_add(size_of::<T>() - 1));
    }
}

#[inline(always)]
fn fetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on the cache, and faults on no address.
    unsafe {
        std::arch::x86_64::_mm_prefetch(address.cast(), std::arch::x86_64::_MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_starts_zeroed_and_keeps_what_is_stored() {
        for len in [0, 1, 5000] {
            let mut t: Table<u32> = Table::zeroed(len).unwrap();
            assert_eq!(t.len(), len);
            assert!(t.iter().all(|n| *n == 0));
            t.iter_mut().enumerate().for_each(|(i, n)| *n = i as u32);
            assert!(t.iter().enumerate().all(|(i, n)| *n == i as u32));
        }
    }

    #[test]
    fn table_may_exceed_memory_but_not_the_address_space() {
        #[cfg(target_pointer_width = "64")]
        {
            let mut t: Table<u64> = Table::zeroed(1 << 35).unwrap();
            t[1 << 34] = 7;
            assert_eq!(t[1 << 34], 7);
            assert!(Table::<u64>::zeroed(1 << 59).is_err());
        }
        assert!(Table::<u64>::zeroed(usize::MAX / 2).is_err());
        assert!(Table::<u64>::zeroed(usize::MAX / 8).is_err());
    }
}
