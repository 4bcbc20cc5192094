//! What each sector of a drive may hold, by stamps that fill it.

pub const SECTOR: u64 = 4096;

/// A sector with a stamp.
pub fn bytes(stamp: u64) -> Vec<u8> {
    stamp.to_be_bytes().repeat((SECTOR / 8) as usize)
}

/// The stamps that each sector may hold, the newest last; 0 for zeroes.
#[derive(Clone)]
pub struct Ledger {
    stamp: u64,
    may: Vec<Vec<u64>>,
}

impl Ledger {
    pub fn new(sectors: u64) -> Ledger {
        Ledger { stamp: 0, may: vec![vec![0]; sectors as usize] }
    }

    /// The bytes of the next write, of some sectors.
    pub fn write(&mut self, first: u64, count: u64) -> Vec<u8> {
        let mut data = vec![];
        for sector in first..first + count {
            self.stamp += 1;
            self.may[sector as usize].push(self.stamp);
            data.extend(bytes(self.stamp));
        }
        data
    }

    /// Some sectors are to become zeroes.
    pub fn trim(&mut self, first: u64, count: u64) {
        for sector in first..first + count {
            self.may[sector as usize].push(0);
        }
    }

    /// Sectors hold what was asked of them last.
    pub fn settled(&mut self, first: u64, count: u64) {
        for stamps in &mut self.may[first as usize..(first + count) as usize] {
            stamps.drain(..stamps.len() - 1);
        }
    }

    /// Compare with what is found, which holds from then on. Returns what is wrong.
    pub fn compare(&mut self, found: &[u8]) -> Option<String> {
        for (sector, (found, may)) in found.chunks(SECTOR as usize).zip(&mut self.may).enumerate() {
            let stamp = u64::from_be_bytes(found[..8].try_into().unwrap());
            if found != bytes(stamp) {
                return Some(format!("sector {sector} is torn"));
            }
            if !may.contains(&stamp) {
                return Some(format!("sector {sector} holds {stamp}, and only {may:?} can be"));
            }
            *may = vec![stamp];
        }
        None
    }
}
