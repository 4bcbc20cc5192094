//! The analytic model of a scheme on a device and workload, without a simulation.

use crate::ask::setup::Setup;
use crate::ask::spec::RunSpec;
use crate::error::RunError;
use serde_json::{Value, json};
use wordline_ftl::DriveInfo;
use wordline_schemes::{Model, ModelError};
use wordline_units::HostOp;

/// The cost and hit rate curves of HySSD's model for a device, a workload and a scheme: `points` by
/// utilization, `io_w`, and the underlying sizes.
///
/// # Errors
/// Invalid input, and a refusal if the scheme does not support the device.
pub fn model(spec: &RunSpec) -> Result<Value, RunError> {
    let setup = Setup::without_state(spec)?;
    let logical_pages = (setup.device.logical_bytes() / setup.device.unit.0) as u32;
    let drive = DriveInfo { spec: &setup.device, geometry: &setup.geometry, logical_pages };
    let mut model = Model::new(&setup.scheme(&spec.scheme)?, &drive).map_err(|e| match e {
        ModelError::Scheme(e) => RunError::Scheme(e),
        ModelError::Refused(e) => RunError::Refused(e),
        ModelError::Nothing => RunError::Input(e.to_string()),
    })?;
    let lbas = setup.device.unit.0 / wordline_units::LBA_BYTES;
    let (mut reads, mut writes) = (0u64, 0u64);
    for request in setup.workload.open(setup.shape, setup.spec.seed)? {
        let request = request?;
        let end = (request.lba.0 + request.blocks as u64).div_ceil(lbas).min(logical_pages as u64);
        let pages = (request.lba.0 / lbas) as u32..end as u32;
        match request.op {
            HostOp::Read => {
                reads += pages.len() as u64;
                pages.for_each(|page| model.read(page));
            }
            HostOp::Write => {
                writes += pages.len() as u64;
                pages.for_each(|page| model.write(page));
            }
            HostOp::Trim | HostOp::Flush => {}
        }
    }
    let unit = setup.device.unit.0;
    Ok(json!({
        "device": setup.device.name,
        "workload": setup.workload.name(),
        "unit_bytes": unit,
        "superior_bytes": model.hybrid().s_superior * unit as f64,
        "inferior_bytes": model.hybrid().s_inferior * unit as f64,
        "data_bytes": model.hybrid().d_hybrid * unit as f64,
        "programs_per_unit": model.hybrid().programs_per_unit,
        "page_reads": reads,
        "page_writes": writes,
        "io_w": model.io_w(),
        "points": model.points(),
    }))
}
