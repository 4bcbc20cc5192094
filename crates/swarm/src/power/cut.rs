//! Cuts and restores the power, and compares what is found with what is allowed.

use crate::power::run::{Run, stamps};
use crate::power::watch::{Cell, Change};
use std::collections::HashSet;
use wordline_ftl::Located;
use wordline_sim::Device;
use wordline_units::{BlockId, HostOp, HostRequest, Lpn, Ppn, SectorMask, SimTime};

impl Run {
    fn places(&mut self) -> Vec<Vec<Located>> {
        let end = self.device.ftl.inspect().own_pages().end;
        (0..end).map(|lpn| self.device.ftl.locate(Lpn(lpn))).collect()
    }

    /// Cut and restore the power now, and compare what is found with what is allowed.
    ///
    /// # Errors
    /// If acknowledged or flushed data are lost, if data are found that were never written, or if the drive
    /// contradicts itself.
    pub fn cut(mut self) -> Result<Run, String> {
        self.collect(self.device.now())?;
        let committed = self.places();
        let wear: Vec<_> = self.device.ftl.inspect().wear().map(|(_, erases)| erases).collect();
        let mut off = self.device.power_cut();
        let (at, protected) = (off.at, off.image.protected_pages().collect::<HashSet<Lpn>>());
        let metadata = off.image.media.metadata().ok_or("the media keep no metadata")?;
        let torn = metadata.torn(off.probe.slot_shift);
        let mut gone: Vec<u64> = off.lost.clone();
        gone.sort_unstable();
        let geometry = self.spec.geometry().map_err(|e| e.to_string())?;
        let log = metadata.trim_pages().count() as u64;
        self.tally.cuts += 1;
        self.tally.lost_requests += gone.len() as u64;
        self.tally.protected += protected.len() as u64;
        self.tally.logged += log;
        self.tally.torn_programs += torn.len() as u64;
        self.tally.torn_erases += (0..geometry.blocks)
            .filter(|b| {
                let found = metadata.block(BlockId(*b));
                found.is_some_and(|f| f.half_erased)
            })
            .count() as u64;
        off.probe.torn = torn.iter().copied().collect();
        self.device = Device::power_on(&self.spec, &geometry, self.scheme.clone(), off)
            .map_err(|e| format!("{}: {e}", self.name))?;
        if self.device.now() < at {
            return self.error("time runs backwards".into());
        }
        if gone != self.under_way.keys().copied().collect::<Vec<_>>() {
            return self.error(format!("{:?} are in flight, but {gone:?} are lost", self.under_way));
        }
        self.under_way.clear();
        self.expected.clear();
        let found_wear: Vec<_> = self.device.ftl.inspect().wear().map(|(_, erases)| erases).collect();
        if wear != found_wear {
            return self.error("erase counts differ".into());
        }
        if let Err(e) = self.device.ftl.check() {
            return self.error(format!("after recovery: {e}"));
        }
        self.compare_maps(&committed, &protected, &torn)?;
        self.read_everything()
    }

    /// Compare the recovered mapping table with the committed one. A page that was trimmed but not flushed
    /// may be mapped again. A page in protected RAM may be found at the place that it left.
    fn compare_maps(
        &mut self,
        committed: &[Vec<Located>],
        protected: &HashSet<Lpn>,
        torn: &[Ppn],
    ) -> Result<(), String> {
        let geometry = self.spec.geometry().map_err(|e| e.to_string())?;
        let recovered = self.places();
        let logical = self.device.ftl.inspect().trim_log().start;
        let safe = self.device.ftl.layout().regions.iter().any(|r| r.protected);
        for lpn in (0..committed.len() as u32).map(Lpn) {
            let (was, is) = (&committed[lpn.0 as usize], &recovered[lpn.0 as usize]);
            if let Some(torn) = is.iter().find(|l| torn.contains(&l.ppn)) {
                return self.error(format!("logical page {lpn} is mapped to the torn place {}", torn.ppn));
            }
            let moved = lpn.0 >= logical && was.is_empty() && safe;
            if protected.contains(&lpn) || moved {
                continue;
            }
            for sector in 0..self.per_unit as u32 {
                let bit = SectorMask(1 << sector);
                let at = |l: &[Located]| l.iter().find(|l| l.mask.covers(bit)).map(|l| l.ppn);
                let (was, is) = (at(was), at(is));
                if was == is || (lpn.0 < logical && self.trimmed_since_flush(lpn, sector)) {
                    continue;
                }
                let metadata = self.device.ftl.media().metadata();
                let order = |ppn: Ppn| {
                    let oobs = metadata?.page(ppn).iter().filter(|o| o.span.lpn == lpn);
                    oobs.filter(|o| self.per_cell > 1 || o.span.mask.covers(bit))
                        .map(|o| (o.version, o.sequence))
                        .next()
                };
                let block = |ppn| geometry.block_of(ppn);
                let twins = was.zip(is).is_some_and(|(was, is)| {
                    let ended = torn.iter().any(|ppn| block(*ppn) == block(was));
                    let (was, is) = (order(was).unwrap_or_default(), order(is).unwrap_or_default());
                    was.0 == is.0 && (was.1 < is.1 || ended)
                });
                if !twins {
                    return self.error(format!(
                        "sector {sector} of logical page {lpn} is committed at {was:?} and recovered at {is:?}"
                    ));
                }
                self.tally.twins += 1;
            }
        }
        Ok(())
    }

    fn trimmed_since_flush(&self, lpn: Lpn, sector: u32) -> bool {
        let cell = (lpn.0 as u64 * self.per_unit + sector as u64) as usize / self.per_cell;
        self.cells[cell].changes.iter().any(|c| c.is_trim && c.number >= self.flushed)
    }

    /// Read every cell. It may hold the state after the last change that is certainly durable, or after any
    /// later change. From now on it must keep what was found.
    fn read_everything(mut self) -> Result<Run, String> {
        let request = HostRequest::new(HostOp::Read, 0, self.sectors() as u32).at(self.device.now());
        if let Err(e) = self.device.submit(request, self.device.now()) {
            return self.error(e.to_string());
        }
        let read = match self.device.next_completion(SimTime::NEVER) {
            Ok(Some(c)) => c,
            other => return self.error(format!("the drive cannot be read: {other:?}")),
        };
        let found = stamps(&read.data);
        for (i, found) in found.chunks(self.per_cell).enumerate() {
            let cell = &self.cells[i];
            let lasted =
                |c: &Change| c.number < self.flushed || (!c.is_trim && self.acknowledged.contains(&c.number));
            let floor = cell.changes.iter().rposition(lasted);
            let later = cell.changes[floor.unwrap_or(0)..].iter().map(|c| c.after.as_slice());
            let first = floor.is_none().then_some(cell.found.as_slice());
            let allowed: Vec<&[u64]> = first.into_iter().chain(later).collect();
            if !allowed.contains(&found) {
                let cell: Vec<String> = cell
                    .changes
                    .iter()
                    .map(|c| format!("{}{}:{:?}", if c.is_trim { "trim " } else { "" }, c.number, c.after))
                    .collect();
                return self.error(format!(
                    "cell {i} is found as {found:?}, but only {allowed:?} can be; flushed before {}, changes {cell:?}",
                    self.flushed
                ));
            }
            let is_back = self.cells[i].changes.last().is_some_and(|c| c.is_trim && c.after != found);
            self.tally.undone_trims += is_back as u64;
        }
        for (cell, found) in self.cells.iter_mut().zip(found.chunks(self.per_cell)) {
            *cell = Cell { found: found.to_vec(), changes: vec![] };
        }
        self.acknowledged.clear();
        Ok(self)
    }
}
