//! Last resorts if nothing is pending and something waits for space, in the order of docs/progress.md.

use crate::drive::driver::{Driver, settle};
use crate::drive::waiting::HeldUp;
use crate::flow::collect::hold::let_go_of_dies;
use crate::flow::dispatch::{complete_groups, end_joined_moves, fail, fail_held_moves, join_pieces};
use crate::flow::host::flush::fail_flushes;
use crate::flow::program::blocked::{self, GiveUp, can_fail};
use crate::state::op::OpId;

/// Release, redirect or fail operations that wait for space, because nothing is pending. With outstanding requests,
/// more operations are failed. Returns whether anything changes.
#[cold]
pub fn last_resort<D: Driver>(driver: &mut D, is_awaited: bool) -> bool {
    let changes = let_go_of_dies(driver.layer_mut().parts_mut())
        || send_elsewhere(driver)
        || (is_awaited && complete_groups(driver.layer_mut().parts_mut()))
        || join_pieces(driver.layer_mut().parts_mut())
        || give_up(driver, GiveUp::Moves)
        || (is_awaited && give_up(driver, GiveUp::Writes));
    settle(driver);
    changes
}

/// Let garbage collection release its die if it waits for space and no operation is in flight: timers alone
/// free no space.
pub fn release_idle_dies<D: Driver>(driver: &mut D) {
    settle(driver);
    let holds_any = driver.layer().parts().held_dies.any();
    if holds_any && driver.is_at_rest() && let_go_of_dies(driver.layer_mut().parts_mut()) {
        settle(driver);
    }
}

/// The programs that wait for space, by plane. An idle drive has no operation, and is not searched: under a
/// light load, it is idle after every request.
fn waiting_programs<D: Driver>(driver: &D) -> Vec<OpId> {
    if driver.layer().inspect().has_operations() { driver.waiting().programs().collect() } else { Vec::new() }
}

/// Send operations that wait for space in their plane to other planes, if they may go there, in the order of
/// service. Returns whether any moves.
fn send_elsewhere<D: Driver>(driver: &mut D) -> bool {
    let mut going = waiting_programs(driver);
    going.sort_unstable_by_key(|id| driver.layer().op(*id).key);
    going.retain(|id| blocked::send_elsewhere(driver.layer_mut().parts_mut(), *id));
    let any = !going.is_empty();
    driver.waiting_mut().remove(going);
    any
}

/// Give up operations that wait for space, because nothing is pending that could free any. Moves are dropped.
/// If requests wait, unacknowledged writes fail. Acknowledged writes stay in the buffer: flushes then
/// complete without their guarantee, or else the first request that the full buffer delays fails.
fn give_up<D: Driver>(driver: &mut D, what: GiveUp) -> bool {
    let mut failing = waiting_programs(driver);
    failing.retain(|id| {
        let fails = can_fail(&driver.layer().parts().state, *id, what);
        if fails {
            fail(driver.layer_mut().parts_mut(), *id);
        }
        fails
    });
    let mut gave_up = !failing.is_empty();
    driver.waiting_mut().remove(failing);
    if what == GiveUp::Writes {
        gave_up = gave_up || give_up_requests(driver);
    }
    settle(driver);
    gave_up
}

fn give_up_requests<D: Driver>(driver: &mut D) -> bool {
    let layer = driver.layer_mut().parts_mut();
    if fail_held_moves(layer)
        || end_joined_moves(layer)
        || fail_flushes(&mut layer.state, &mut layer.requests, &mut layer.out)
    {
        return true;
    }
    let Some(HeldUp { request, number, .. }) = driver.waiting_mut().take_request() else { return false };
    driver.refuse(request, number);
    true
}
