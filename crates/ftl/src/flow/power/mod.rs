//! What a power cut leaves, and how a drive continues from it.

pub(crate) mod cut;
pub(crate) mod found;
pub(crate) mod power_loss_image;
pub(crate) mod recover;
