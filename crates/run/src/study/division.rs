//! The layout and hooks of a scheme on a drive, without a run.

use crate::error::RunError;
use wordline_device::DeviceSpec;
use wordline_ftl::{DriveInfo, Layout};
use wordline_schemes::Registry;

/// The hooks of a scheme that are called on a device, and its layout there.
///
/// # Errors
/// If the scheme does not exist, its parameters are invalid, or it does not support the device.
pub fn divided(
    registry: &Registry,
    scheme: &str,
    device: &DeviceSpec,
) -> Result<(Vec<&'static str>, Layout), RunError> {
    let mut built = registry.build(scheme)?;
    let geometry = device.geometry().map_err(|e| RunError::Input(e.to_string()))?;
    let logical_pages = (device.logical_bytes() / device.unit.0).min(u32::MAX as u64 - 1) as u32;
    let layout = built.laid_out(&DriveInfo { spec: device, geometry: &geometry, logical_pages })?;
    let always = ["layout", "place"].into_iter();
    let ticks = layout.tick_every_writes > 0;
    let hooks = built.answers().hooks().names().filter(|hook| match *hook {
        "tick" => ticks,
        hook => layout.enabled_hooks.names().any(|enabled| enabled == hook),
    });
    Ok((always.chain(hooks).collect(), layout))
}
