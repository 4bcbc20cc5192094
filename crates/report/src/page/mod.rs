//! The pages: one file each that needs nothing else, neither network nor script, to be read. The
//! pictures are in it as they were drawn; the script adds what only a browser can (a crosshair with
//! values, downloads), and the style gives it a dark side, a narrow one and a printed one. Every
//! text from a report is escaped, and a content policy forbids all requests.

pub(crate) mod comparison;
pub(crate) mod conditions;
pub(crate) mod config;
pub(crate) mod decision;
pub(crate) mod findings;
pub(crate) mod jobs;
pub(crate) mod lifetime;
pub(crate) mod measures;
pub(crate) mod parts;
pub(crate) mod trace;
