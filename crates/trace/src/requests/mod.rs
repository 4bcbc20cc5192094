//! What a stream of requests is: how it fits a drive, who sets its pace and pauses, which pages it touches.

pub(crate) mod fit;
pub(crate) mod pace;
pub(crate) mod pages;
pub(crate) mod pauses;
pub(crate) mod stream;
