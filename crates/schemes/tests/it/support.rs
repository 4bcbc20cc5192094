//! Layouts of a scheme on the drives that come with the project.

use wordline_device::DeviceSpec;
use wordline_ftl::{DriveInfo, Layout, Scheme};

pub fn drives() -> Vec<DeviceSpec> {
    let specs = wordline_device::builtin().iter().map(|device| device.spec(&[]).unwrap());
    specs.collect()
}

/// Its layouts on those of the drives that it suits.
pub fn layouts(scheme: &dyn Scheme, drives: &[DeviceSpec]) -> Vec<Layout> {
    let on = |spec: &DeviceSpec| {
        let geometry = spec.geometry().unwrap();
        let logical_pages = (spec.logical_bytes() / spec.unit.0) as u32;
        scheme.clone_box().laid_out(&DriveInfo { spec, geometry: &geometry, logical_pages }).ok()
    };
    drives.iter().filter_map(on).collect()
}
