//! What is said of the data: numbers with their units, the rows of a comparison, sentences.

pub(crate) mod advice;
pub(crate) mod begun;
pub(crate) mod command;
pub(crate) mod conditions;
pub(crate) mod decision;
pub(crate) mod facts;
pub(crate) mod figures;
pub(crate) mod hints;
pub(crate) mod label;
pub(crate) mod labels;
pub(crate) mod lifetime;
pub(crate) mod metrics;
pub(crate) mod names;
pub(crate) mod number;
pub(crate) mod reach;
pub(crate) mod row;
pub(crate) mod rows;
pub(crate) mod said;
pub(crate) mod settled;
pub(crate) mod steady;
pub(crate) mod twins;
pub(crate) mod verdict;
