//! Text about data: numbers with units, rows of a comparison, sentences.

pub(crate) mod advice;
pub(crate) mod command;
pub(crate) mod conditions;
pub(crate) mod decision;
pub(crate) mod end;
pub(crate) mod facts;
pub(crate) mod figures;
pub(crate) mod hints;
pub(crate) mod label;
pub(crate) mod labels;
pub(crate) mod lifetime;
pub(crate) mod metrics;
pub(crate) mod names;
pub(crate) mod number;
pub(crate) mod phrases;
pub(crate) mod reach;
pub(crate) mod row;
pub(crate) mod rows;
pub(crate) mod steadiness;
pub(crate) mod steady;
pub(crate) mod steady_start;
pub(crate) mod twins;
pub(crate) mod verdict;
