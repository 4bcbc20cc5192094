//! Large tables of plain values, in memory that the system provides only where it is touched. A
//! drive of terabytes costs what its footprint costs, and nothing at the start.

use bytemuck::Zeroable;
use memmap2::{MmapMut, MmapOptions};
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A table of so many values, each all zeros at first.
pub(crate) struct Table<T> {
    memory: MmapMut,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Zeroable + Copy> Table<T> {
    /// # Errors
    /// When the system has no address space for it.
    pub fn zeroed(len: usize) -> io::Result<Table<T>> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let memory = MmapOptions::new().len(bytes.max(1)).no_reserve_swap().map_anon()?;
        Ok(Table { memory, len, of: PhantomData })
    }
}

impl<T: Zeroable + Copy> Deref for Table<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the mapping begins on a page, so it is aligned for T; it holds at least `len` of them,
        // each of which was all zeros, a valid T (`Zeroable`), until a T was put there; `self` borrows it.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.len) }
    }
}

impl<T: Zeroable + Copy> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` borrows it alone.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_zero_at_first_and_keeps_what_is_put_into_it() {
        for len in [0, 1, 5000] {
            let mut t: Table<u32> = Table::zeroed(len).unwrap();
            assert_eq!(t.len(), len);
            assert!(t.iter().all(|n| *n == 0));
            t.iter_mut().enumerate().for_each(|(i, n)| *n = i as u32);
            assert!(t.iter().enumerate().all(|(i, n)| *n == i as u32));
        }
    }

    #[test]
    fn a_table_larger_than_memory_can_be_had_and_one_larger_than_the_address_space_is_refused() {
        let mut t: Table<u64> = Table::zeroed(1 << 35).unwrap();
        t[1 << 34] = 7;
        assert_eq!(t[1 << 34], 7);
        assert!(Table::<u64>::zeroed(usize::MAX / 2).is_err());
        assert!(Table::<u64>::zeroed(1 << 59).is_err());
    }
}
