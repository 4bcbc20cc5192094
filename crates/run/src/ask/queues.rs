//! The queues of a host, from device file and workload.

use crate::error::RunError;
use std::collections::BTreeMap;
use wordline_device::DeviceSpec;
use wordline_device::config::closest;
use wordline_sim::Pacing;
use wordline_units::QueueClass;
use wordline_workload::Workload;

/// One queue, from device file and workload.
pub(crate) struct Asked {
    pub name: String,
    pub class: QueueClass,
    pub depth: Option<u32>,
}

/// The queues of a workload's sources, by number; `None` where requests come in one.
pub(crate) fn asked(device: &DeviceSpec, workload: &Workload) -> Option<Vec<Asked>> {
    let arbitration = device.arbitration.as_ref()?;
    let mut copies: BTreeMap<String, u32> = BTreeMap::new();
    let queues = workload.sources().into_iter().map(|source| {
        let named = arbitration.queues.iter().find(|q| q.name == source.name);
        let copy = copies.entry(source.name.clone()).or_default();
        *copy += 1;
        Asked {
            class: named.and_then(|q| q.class).unwrap_or(source.class),
            depth: named.and_then(|q| q.depth),
            name: if *copy == 1 { source.name } else { format!("{}#{copy}", source.name) },
        }
    });
    Some(queues.collect())
}

/// Refuse a queue without a source, and a closed loop of several sources: it submits in request order, so that no
/// queue ever waits for its turn.
pub(crate) fn check(
    device: &DeviceSpec,
    workload: &Workload,
    pacing: Option<Pacing>,
) -> Result<(), RunError> {
    let Some(arbitration) = &device.arbitration else { return Ok(()) };
    let sources = workload.sources();
    let names: Vec<&str> = sources.iter().map(|s| s.name.as_str()).collect();
    for queue in &arbitration.queues {
        if !names.contains(&queue.name.as_str()) {
            let hint = closest(&queue.name, names.iter().copied());
            let hint = hint.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
            return Err(RunError::Input(format!(
                "host.queue.{}: the workload has no volume or job of that name{hint}\n  allowed: {}",
                queue.name,
                names.join(", ")
            )));
        }
    }
    if names.len() > 1 && matches!(pacing, Some(Pacing::Closed { .. })) {
        return Err(RunError::Input(format!(
            "host.arbitration: a closed loop over {} volumes has a single queue, in trace order\n  \
             allowed: pacing=open, a fio job file, or host.arbitration = \"off\"",
            names.len()
        )));
    }
    Ok(())
}
