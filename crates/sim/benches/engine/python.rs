//! A class of Python on the same drive and load, in a process of its own: its `place` is asked for every page.

use crate::case::{Case, Load, Start};
use crate::shape::LBAS;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// What asks Python for one run.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/plain_place.py");

/// The interpreter, if the environment names one; it has the package.
pub struct Python {
    program: PathBuf,
    device: PathBuf,
}

impl Python {
    pub fn find() -> Option<Python> {
        let program = PathBuf::from(env::var_os("WORDLINE_PYTHON").filter(|p| !p.is_empty())?);
        Some(Python {
            program,
            device: env::temp_dir().join(format!("wordline-bench-{}.toml", std::process::id())),
        })
    }

    /// Requests a second of a case, and its write amplification.
    pub fn run(&self, case: &Case) -> Result<(f64, f64), String> {
        let failed = |what: String| format!("{} under {}: {what}", case.name, self.program.display());
        fs::write(&self.device, case.shape.text(case.errs)).map_err(|e| failed(e.to_string()))?;
        let pages = case.pages();
        let (initial, warm) = match case.start {
            Start::Empty => ("fresh".to_string(), 0),
            Start::Full => ("fill:100%".to_string(), 0),
            Start::Aged(hundredths) => {
                (format!("fill:100%,valid={}%", case.valid_percent()), pages * u64::from(hundredths) / 100)
            }
        };
        let (kind, blocks, read) = match case.load {
            Load::RandomReads(blocks) => ("uniform", u64::from(blocks), 100),
            Load::RandomWrites => ("uniform", LBAS, 0),
            Load::SequentialWrites => ("sequential", LBAS, 0),
        };
        let workload = format!("{kind}:read={read}%,bs={}B,qd={}", blocks * 512, case.queue_depth);
        let mut command = Command::new(&self.program);
        command.arg(SCRIPT).arg(&self.device).args([
            initial,
            workload,
            warm.to_string(),
            case.requests.to_string(),
        ]);
        let done = command.output().map_err(|e| failed(e.to_string()))?;
        let said = String::from_utf8_lossy(&done.stdout);
        let numbers: Vec<f64> = said.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        match numbers.as_slice() {
            [seconds, waf] => Ok((case.requests as f64 / seconds, *waf)),
            _ => Err(failed(String::from_utf8_lossy(&done.stderr).into_owned())),
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // Of a device that was never written nothing is left.
        let _ = fs::remove_file(&self.device);
    }
}
