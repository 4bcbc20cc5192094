//! The model of HySSD on a drive, without a simulation: predictions for a workload at each utilization.

use crate::cost_model::{Hybrid, Mix};
use crate::hyssd::{Hyssd, entry};
use crate::parts::pair::Pair;
use crate::registry::{SchemeError, made};
use serde::Serialize;
use wordline_ftl::{DriveInfo, Refusal, Scheme};

/// The model of HySSD on a drive, without a simulation: what a workload would find there at each utilization.
#[derive(Debug)]
pub struct Model {
    /// Costs as the paper counts them: over all blocks.
    hybrid: Hybrid,
    /// The same over the blocks that can hold data during GC: without the reserve and open blocks. This is
    /// what a device does.
    effective: Hybrid,
    scheme: Hyssd,
}

impl Model {
    /// The model of a spelling of the scheme, such as `hyssd` or `hyssd:tlc_unit=unpacked`, on a drive.
    ///
    /// # Errors
    /// Where the spelling is wrong or another scheme's, or the drive does not suit it.
    pub fn new(spelling: &str, drive: &DriveInfo) -> Result<Model, ModelError> {
        let mut scheme = made(&entry(), spelling, Hyssd::from_parameters)?;
        scheme.layout(drive)?;
        let Some(hybrid) = scheme.analyser().model() else { return Err(ModelError::Nothing) };
        let Pair { fast, dense } = Pair::of(drive).map_err(|_| ModelError::Nothing)?;
        // Of every plane the block in reserve, and the one just opened.
        let [s, t] = [fast, dense].map(|half| (2 * half.row()) as f64);
        let (s_superior, s_inferior) = (hybrid.s_superior - s, hybrid.s_inferior - t);
        // Utilizations stay those of all of the superior medium's pages.
        let effective = Hybrid { s_superior, s_inferior, ..hybrid };
        Ok(Model { hybrid, effective, scheme })
    }

    /// Costs as the paper counts them: over all blocks.
    pub fn hybrid(&self) -> &Hybrid {
        &self.hybrid
    }

    /// A logical page is written.
    pub fn write(&mut self, page: u32) {
        self.scheme.classifier_mut().write(page, 0);
    }

    /// A logical page is read.
    pub fn read(&mut self, page: u32) {
        self.scheme.classifier_mut().read(page);
    }

    /// The predictions for the pages written and read so far, at each utilization that the drive supports.
    pub fn points(&self) -> Vec<ModelPoint> {
        let c = self.scheme.classifier();
        let ((writes, reads), io_w) = (c.hit_rates(), c.io_w());
        let point = |u: f64| {
            let mix = Mix { h_w: writes.at(u), h_r: reads.at(u), io_w };
            // The same data over fewer pages.
            let denser = u * self.hybrid.s_superior / self.effective.s_superior;
            ModelPoint {
                u,
                h_w: mix.h_w,
                h_r: mix.h_r,
                c_pw_hy_us: self.hybrid.c_pw_hy(u, mix.h_w),
                c_pr_hy_us: self.hybrid.c_pr_hy(mix.h_r),
                c_hyssd_us: self.hybrid.c_hyssd(u, mix),
                effective_us: self.effective.c_hyssd(denser, mix),
                endured_writes: self.hybrid.endured_writes(u, mix.h_w),
            }
        };
        self.scheme.analyser().grid().map(point).collect()
    }

    /// IO_W of the pages written and read so far.
    pub fn io_w(&self) -> f64 {
        self.scheme.classifier().io_w()
    }
}

/// The model at one utilization.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ModelPoint {
    /// u.
    pub u: f64,
    /// H_w.
    pub h_w: f64,
    /// H_r.
    pub h_r: f64,
    /// C_PW_HY, in microseconds.
    pub c_pw_hy_us: f64,
    /// C_PR_HY, in microseconds.
    pub c_pr_hy_us: f64,
    /// C_HYSSD, eq. 3, in microseconds.
    pub c_hyssd_us: f64,
    /// The same over the blocks that can hold data during GC.
    pub effective_us: f64,
    /// Page writes of the host until a medium is worn out; infinite where no endurance is known.
    pub endured_writes: f64,
}

/// Why there is no model.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ModelError {
    /// The spelling.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The drive.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Neither, which a scheme that has been laid out excludes.
    #[error("the drive does not have two media")]
    Nothing,
}
