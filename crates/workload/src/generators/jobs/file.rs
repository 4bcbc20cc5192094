//! A job file as a workload.

use crate::generators::jobs::ini::{JobText, looks_like_jobs};
use crate::generators::jobs::job::Job;
use crate::generators::jobs::job_reading::jobs_of;
use crate::generators::jobs::placement::{Placed, place};
use crate::generators::jobs::script::{AtOnce, JobScript};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use wordline_trace::{
    DriveShape, ErrorKind, Limit, Overrides, Problem, RequestStream, Source, WorkloadError,
};

/// Number of bytes examined to tell whether a file is a job file.
const LOOK: u64 = 64 << 10;

/// Whether a file is a fio job file: a text in which the first line that is neither empty nor a comment is a
/// section such as `[global]` or includes another file.
pub(crate) fn is_job_file(path: &str) -> bool {
    let path = Path::new(path);
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(LOOK).read_to_end(&mut head));
    read.is_ok() && looks_like_jobs(&head)
}

/// A job file, completely parsed.
pub(crate) struct JobFile {
    name: String,
    sha256: String,
    jobs: Vec<Job>,
    /// Keys that were ignored because the options requested it.
    left_out: Vec<String>,
    /// Variables of the file whose values come from the environment.
    environment: Vec<(String, String)>,
    remarks: Vec<String>,
    requests: Option<u64>,
}

impl JobFile {
    /// Parses a job file with the options after its name.
    ///
    /// # Errors
    /// All keys that are not supported and all invalid values, each with its line.
    pub fn parse(name: &str, options: &str, over: Overrides) -> Result<JobFile, WorkloadError> {
        JobFile::parse_from(name, None, options, over)
    }

    /// Parses a job file from content in memory, if given. Files that it includes are read from disk.
    ///
    /// # Errors
    /// As [`JobFile::parse`].
    pub fn parse_from(
        name: &str,
        content: Option<Vec<u8>>,
        options: &str,
        over: Overrides,
    ) -> Result<JobFile, WorkloadError> {
        let mut problems = Vec::new();
        if over.fit.is_some() {
            let what = "a job file defines its own addresses, so fit= does not apply";
            problems.push(
                Problem::new(ErrorKind::Option, "fit", what).hint("size= and offset= take shares: size=50%"),
            );
        }
        let file = JobText::read(name, content, options, &mut problems)?;
        let (jobs, mut remarks) = jobs_of(&file, &mut problems);
        WorkloadError::of_all(problems)?;
        if !file.left_out.is_empty() {
            remarks.push(format!(
                "ignore= skipped {}: the requests differ from those of fio.",
                file.left_out.join(", ")
            ));
        }
        Ok(JobFile {
            name: name.to_string(),
            sha256: file.sha256,
            jobs,
            left_out: file.left_out,
            environment: file.environment,
            remarks,
            requests: over.requests,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a reader of the results should know about the file, one sentence each.
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// Variables whose values come from the environment, as options that set them.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// The limit on the number of requests. All other limits come from the jobs themselves.
    pub fn limit(&self) -> Limit {
        Limit { requests: self.requests, duration: None, bytes: None }
    }

    /// Whether time may end a job before its bytes are moved, so that the number of requests depends on the
    /// drive.
    pub fn is_timed(&self) -> bool {
        self.jobs.iter().any(|j| j.runtime.is_some())
    }

    /// The jobs by number, with each copy of `numjobs` separately.
    pub fn sources(&self) -> Vec<Source> {
        let copies =
            |j: &Job| std::iter::repeat_n(Source { name: j.name.clone(), class: j.class }, j.clones as usize);
        self.jobs.iter().flat_map(copies).collect()
    }

    /// The jobs as a script for a driver.
    ///
    /// # Errors
    /// If a job does not fit the drive.
    pub fn script(&self, drive: DriveShape, seed: u64) -> Result<JobScript, WorkloadError> {
        let mut problems = Vec::new();
        let placed = place(&self.jobs, drive, &mut problems);
        WorkloadError::of_all(problems)?;
        JobScript::new(placed, seed, self.requests)
    }

    /// The requests as a drive would receive them that completes each immediately.
    ///
    /// # Errors
    /// As [`JobFile::script`].
    pub fn open(&self, drive: DriveShape, seed: u64) -> Result<RequestStream, WorkloadError> {
        Ok(Box::new(AtOnce::new(self.script(drive, seed)?)))
    }

    /// Where the jobs read and write, in blocks of 512 bytes: the files that fio would have laid out.
    ///
    /// # Errors
    /// As [`JobFile::script`].
    pub fn spans(&self, drive: DriveShape) -> Result<Vec<(u64, u64)>, WorkloadError> {
        let mut problems = Vec::new();
        let placed = place(&self.jobs, drive, &mut problems);
        WorkloadError::of_all(problems)?;
        Ok(placed.iter().map(Placed::blocks).collect())
    }

    pub fn resolved(&self) -> Value {
        json!({
            "kind": "jobs",
            "name": self.name,
            "sha256": self.sha256,
            "left_out": self.left_out,
            "jobs": self.jobs.iter().map(Job::resolved).collect::<Vec<_>>(),
        })
    }
}
