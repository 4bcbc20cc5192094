//! Answers of a scheme that had no effect, counted by why: what had gone, was under way, or found no room. They are
//! no part of the result hash, since they follow from what is.

use serde::{Deserialize, Serialize};

/// Why a move or a collection of a scheme was ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithoutEffect {
    /// A move of a page that the drive has not, or from no place.
    MoveNoSuchPage,
    /// The page was no longer where the scheme saw it.
    MovePageElsewhere,
    /// The page was being moved already.
    MoveAlreadyUnderWay,
    /// The region that it should go to takes pages by a buffer, which was full.
    MoveFullBuffer,
    /// The page was overwritten or trimmed while it was read.
    MoveOverwritten,
    /// No slot was found where it should go.
    MoveNoRoom,
    /// The region had no block to collect there.
    CollectNoVictim,
    /// The region was being collected there already.
    CollectAlreadyUnderWay,
    /// The block, or another of its superblock, was still being written.
    CollectStillWritten,
    /// The block is so full that its collection would free nothing.
    CollectGainsNothing,
    /// Another collection on the die might have needed what this one would have held.
    CollectDieBusy,
}

use WithoutEffect::{
    CollectAlreadyUnderWay, CollectDieBusy, CollectGainsNothing, CollectNoVictim, CollectStillWritten,
    MoveAlreadyUnderWay, MoveFullBuffer, MoveNoRoom, MoveNoSuchPage, MoveOverwritten, MovePageElsewhere,
};

/// All reasons, with their names in reports.
const NAMED: [(WithoutEffect, &str); 11] = [
    (MoveNoSuchPage, "move_no_such_page"),
    (MovePageElsewhere, "move_page_elsewhere"),
    (MoveAlreadyUnderWay, "move_already_under_way"),
    (MoveFullBuffer, "move_full_buffer"),
    (MoveOverwritten, "move_overwritten"),
    (MoveNoRoom, "move_no_room"),
    (CollectNoVictim, "collect_no_victim"),
    (CollectAlreadyUnderWay, "collect_already_under_way"),
    (CollectStillWritten, "collect_still_written"),
    (CollectGainsNothing, "collect_gains_nothing"),
    (CollectDieBusy, "collect_die_busy"),
];

/// Count by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AnswersWithoutEffect([u64; NAMED.len()]);

impl AnswersWithoutEffect {
    /// One more.
    #[cold]
    pub(crate) fn count(&mut self, why: WithoutEffect) {
        self.0[why as usize] += 1;
    }

    /// The reasons that occurred, for the end of a message; empty without any.
    pub fn in_words(&self) -> String {
        let all: Vec<String> = self.all().map(|(why, count)| format!("{why} {count}")).collect();
        if all.is_empty() { String::new() } else { format!("; ignored scheme actions: {}", all.join(", ")) }
    }

    /// The reasons that occurred: key in reports, and count.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NAMED.iter().map(|(why, name)| (*name, self.0[*why as usize])).filter(|(_, count)| *count > 0)
    }
}
