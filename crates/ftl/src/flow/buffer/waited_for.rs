//! Whether anything waits for a program that waits for other data.

use crate::state::op::{OpId, Ops};
use crate::state::request::RequestId;
use crate::state::requests::Requests;
use crate::state::state::Config;
use wordline_device::Ack;

/// Whether a write that waits for a partial page has FUA set.
pub(crate) fn is_forced(config: &Config, ops: &Ops, requests: &Requests, id: OpId) -> bool {
    let op = &ops[id];
    let fua = |request: RequestId| requests[request].request.attributes.is_fua();
    config.ack.answers_from_ram()
        && (op.owner.request().is_some_and(fua) || requests.waiting_for(id).any(fua))
}

/// Whether a FLUSH or a write with FUA waits for a page of the host to be on flash.
pub(crate) fn is_waited_for(config: &Config, ops: &Ops, requests: &Requests, part: OpId) -> bool {
    let version = ops[part].version;
    is_forced(config, ops, requests, part) || requests.is_flushed_since(version)
}

/// Whether a request waits for the program of any of these host data: always, unless a buffer has acknowledged
/// them.
pub(crate) fn is_any_waited_for(config: &Config, ops: &Ops, requests: &Requests, leads: [OpId; 2]) -> bool {
    let mut leads = leads.into_iter().filter(|lead| !lead.is_none());
    !matches!(config.ack, Ack::Buffer(_))
        || leads.any(|lead| ops.chain(lead).any(|part| is_waited_for(config, ops, requests, part)))
}
