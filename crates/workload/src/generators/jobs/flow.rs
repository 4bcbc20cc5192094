//! Jobs that share a flow. A job may issue a request while its share of all requests of the flow does not
//! exceed its share of the weights.

use crate::generators::jobs::policy::FlowShare;
use std::collections::BTreeMap;

/// The flows of a file by number, and the jobs that wait for their share.
#[derive(Default)]
pub(crate) struct Flows {
    by_number: BTreeMap<u64, (u64, u64)>,
    waiting: Vec<u16>,
}

impl Flows {
    /// Add a job that begins.
    pub fn join(&mut self, share: FlowShare) {
        // fio counts from 1 to avoid division by zero.
        self.by_number.entry(share.flow).or_insert((1, 0)).1 += share.weight;
    }

    /// Remove a job that has ended and has issued this many requests.
    pub fn leave(&mut self, share: FlowShare, asked: u64) {
        if let Some((counted, weight)) = self.by_number.get_mut(&share.flow) {
            *counted -= asked;
            *weight -= share.weight;
        }
    }

    /// Whether a job that has issued this many requests may issue another. If so, it is counted.
    pub fn admit(&mut self, share: FlowShare, asked: &mut u64) -> bool {
        let Some((counted, weight)) = self.by_number.get_mut(&share.flow) else { return true };
        if *asked as f64 / *counted as f64 > share.weight as f64 / *weight as f64 {
            return false;
        }
        *counted += 1;
        *asked += 1;
        true
    }

    /// Let a job wait until another of its flow has issued a request or ended.
    pub fn wait(&mut self, job: u16) {
        self.waiting.push(job);
    }

    /// The jobs that waited and may try again.
    pub fn woken(&mut self) -> std::vec::Drain<'_, u16> {
        self.waiting.drain(..)
    }
}
