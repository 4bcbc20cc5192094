//! Jobs that share a flow: each may ask while its part of what all have asked is not above its weight's
//! part of all weights.

use crate::generators::jobs::policy::FlowShare;
use std::collections::BTreeMap;

/// The flows of a file by number, and the jobs that wait for their part.
#[derive(Default)]
pub(crate) struct Flows {
    by_number: BTreeMap<u64, (u64, u64)>,
    waiting: Vec<u16>,
}

impl Flows {
    /// A job begins.
    pub fn join(&mut self, share: FlowShare) {
        // fio counts from 1, so that there is no division by nothing.
        self.by_number.entry(share.flow).or_insert((1, 0)).1 += share.weight;
    }

    /// A job ends that has asked this often.
    pub fn leave(&mut self, share: FlowShare, asked: u64) {
        if let Some((counted, weight)) = self.by_number.get_mut(&share.flow) {
            *counted -= asked;
            *weight -= share.weight;
        }
    }

    /// Whether a job that has asked this often may ask again, which is counted.
    pub fn admit(&mut self, share: FlowShare, asked: &mut u64) -> bool {
        let Some((counted, weight)) = self.by_number.get_mut(&share.flow) else { return true };
        if *asked as f64 / *counted as f64 > share.weight as f64 / *weight as f64 {
            return false;
        }
        *counted += 1;
        *asked += 1;
        true
    }

    /// A job waits until another of its flow has asked, or ended.
    pub fn wait(&mut self, job: u16) {
        self.waiting.push(job);
    }

    /// Those that waited, to be asked again.
    pub fn woken(&mut self) -> std::vec::Drain<'_, u16> {
        self.waiting.drain(..)
    }
}
