//! What layouts have in common: refusals, the medium of a drive that has one kind of flash, and regions
//! as the device file wants them.

use wordline_flash::{Medium, ProgramRule};
use wordline_ftl::{Drive, PoolId, Refusal, Region};
use wordline_units::CellMode;

/// How a scheme refuses a drive: with a reason.
pub(crate) fn refuser(scheme: &str, drive: &Drive) -> impl Fn(String) -> Refusal + use<> {
    let (scheme, device) = (scheme.to_string(), drive.spec.name.clone());
    move |reason| Refusal { scheme: scheme.clone(), device: device.clone(), reason }
}

/// The medium of a drive.
///
/// # Errors
/// A refusal where it has several.
pub(crate) fn only_medium<'a>(
    drive: &Drive<'a>,
    refuse: impl Fn(String) -> Refusal,
) -> Result<&'a Medium, Refusal> {
    match &drive.geometry.media[..] {
        [medium] => Ok(medium),
        _ => Err(refuse("it knows one kind of flash, and this drive has several media".into())),
    }
}

/// The order of programs in blocks of a mode, whole wordlines at once or page by page.
pub(crate) fn rule(mode: CellMode, one_shot: bool) -> ProgramRule {
    if one_shot { ProgramRule::OneShot(mode.bits() as u8) } else { ProgramRule::Sequential }
}

/// A region without a quota, with trigger, victim rule and padding from the device file.
pub(crate) fn region(
    drive: &Drive,
    name: &'static str,
    pool: PoolId,
    mode: CellMode,
    rule: ProgramRule,
) -> Region {
    Region {
        name,
        pool,
        mode,
        rule,
        quota: u32::MAX,
        trigger: drive.spec.gc.trigger,
        victim: drive.spec.gc.victim,
        pad_after: drive.spec.pad_after,
        protected: drive.spec.pad_after.is_none(),
    }
}
