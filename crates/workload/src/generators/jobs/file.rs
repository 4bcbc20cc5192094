//! A job file, read and understood, as a workload.

use crate::generators::jobs::ini::{JobText, looks_like_jobs};
use crate::generators::jobs::job::Job;
use crate::generators::jobs::placement::{Placed, place};
use crate::generators::jobs::reading::jobs_of;
use crate::generators::jobs::script::{AtOnce, JobScript};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use wordline_trace::{
    DriveShape, ErrorKind, Limit, Overrides, Problem, RequestStream, Source, WorkloadError,
};

/// Bytes of a file that are looked at to tell whether it is a job file.
const LOOK: u64 = 64 << 10;

/// Whether a file is a fio job file: a text whose first line that is neither empty nor a comment is
/// a section such as `[global]`, or includes another file.
pub(crate) fn is_job_file(path: &str) -> bool {
    let path = Path::new(path);
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(LOOK).read_to_end(&mut head));
    read.is_ok() && looks_like_jobs(&head)
}

/// A job file, understood to the last key.
pub(crate) struct JobFile {
    name: String,
    sha256: String,
    jobs: Vec<Job>,
    /// Keys that were left out because the options said so.
    left_out: Vec<String>,
    /// Variables of the file that were taken from the environment.
    environment: Vec<(String, String)>,
    remarks: Vec<String>,
    requests: Option<u64>,
}

impl JobFile {
    /// Reads a job file with the options behind its name.
    ///
    /// # Errors
    /// Every key that cannot be honoured and every value that cannot be read, each with its line.
    pub fn parse(name: &str, options: &str, over: Overrides) -> Result<JobFile, WorkloadError> {
        JobFile::parse_from(name, None, options, over)
    }

    /// The same of a content that is in memory, if there is one; files that it includes are not.
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

    /// What a reader of the figures should know of the file, a sentence each.
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// The variables of the file that the environment gave, as options that give them again.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// A job file's jobs bound themselves; only the number of requests can be bounded from outside.
    pub fn limit(&self) -> Limit {
        Limit { requests: self.requests, duration: None, bytes: None }
    }

    /// Whether time may end a job before its bytes do, so that how many requests there will be depends
    /// on the drive.
    pub fn is_timed(&self) -> bool {
        self.jobs.iter().any(|j| j.runtime.is_some())
    }

    /// The jobs by number, each copy of `numjobs` for itself.
    pub fn sources(&self) -> Vec<Source> {
        let copies =
            |j: &Job| std::iter::repeat_n(Source { name: j.name.clone(), class: j.class }, j.clones as usize);
        self.jobs.iter().flat_map(copies).collect()
    }

    /// The jobs, ready to be asked.
    ///
    /// # Errors
    /// A job that does not fit the drive.
    pub fn script(&self, drive: DriveShape, seed: u64) -> Result<JobScript, WorkloadError> {
        let mut problems = Vec::new();
        let placed = place(&self.jobs, drive, &mut problems);
        WorkloadError::of_all(problems)?;
        JobScript::new(placed, seed, self.requests)
    }

    /// The requests as a drive would get them that answers each at once.
    ///
    /// # Errors
    /// As [`JobFile::script`].
    pub fn open(&self, drive: DriveShape, seed: u64) -> Result<RequestStream, WorkloadError> {
        Ok(Box::new(AtOnce::new(self.script(drive, seed)?)))
    }

    /// Where the jobs read and write, in blocks of 512 bytes: what fio would have laid out.
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
