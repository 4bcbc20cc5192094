//! The pages: each is a single file that can be read without network or scripts. Pictures are included as
//! drawn. The script adds only what needs a browser (a crosshair with values, downloads), and the style
//! supports dark mode, narrow screens and print. Text from reports is escaped, and a content security policy
//! forbids all requests.

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
