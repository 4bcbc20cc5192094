//! All of the translation layer, as plain data: the seat of the scheme, and parts that keep their fields to themselves. The steps of `flow`
//! take the parts that they change by name, or the whole where they change more than three.

use crate::file::saved::{Saved, saved};
use crate::media::boxed::BoxedMedia;
use crate::media::error::MediaError;
use crate::plan::layout::{DriveInfo, Hooks, Layout, Refusal};
use crate::plan::region::MapKind;
use crate::scheme::Scheme;
use crate::state::dies::{HeldDies, IdleJobs};
use crate::state::gather::Gathering;
use crate::state::merge::MergeBuffer;
use crate::state::moves::Moves;
use crate::state::outbox::Outbox;
use crate::state::progress::ProgressWatch;
use crate::state::read_cache::ReadCache;
use crate::state::requests::Requests;
use crate::state::state::State;
use crate::state::store::Store;
use crate::state::write_buffer::WriteBuffer;

/// The scheme, and what it has said.
pub(crate) struct Seat {
    pub scheme: Box<dyn Scheme>,
    pub layout: Layout,
    pub hooks: Hooks,
    pub writes_until_tick: u32,
}

impl Saved for Seat {
    saved! { Seat, values: [writes_until_tick], parts: [scheme], rebuilt: [layout, hooks] }
}

/// The parts of the translation layer.
pub(crate) struct Layer {
    pub state: State,
    pub seat: Seat,
    /// The stored data.
    pub store: Store,
    pub requests: Requests,
    pub out: Outbox,
    pub held_dies: HeldDies,
    pub idle_jobs: IdleJobs,
    pub gathering: Gathering,
    pub moves: Moves,
    pub merge_buffer: MergeBuffer,
    /// Contents of the write buffer, if it delays writes.
    pub write_buffer: Option<Box<WriteBuffer>>,
    pub read_cache: ReadCache,
    /// Reads of the host that the media could not answer, by the number of their request.
    pub read_errors: Vec<(u64, MediaError)>,
    pub progress: ProgressWatch,
}

impl Saved for Layer {
    saved! { Layer,
        values: [requests, held_dies, idle_jobs, moves, write_buffer, read_cache, gathering, out],
        parts: [store, state, seat, merge_buffer],
        rebuilt: [read_errors, progress],
    }
}

impl Layer {
    /// An empty drive under a scheme, over empty media.
    ///
    /// # Errors
    /// A refusal with its reason if the scheme does not support the device.
    pub fn new(drive: &DriveInfo, mut scheme: Box<dyn Scheme>, media: BoxedMedia) -> Result<Layer, Refusal> {
        let layout = scheme.laid_out(drive)?;
        let refuse = |reason: String| Refusal {
            scheme: scheme.name().to_string(),
            device: drive.spec.name.clone(),
            reason,
            has_failed: false,
        };
        let splits_writes = layout.merges.is_some() || layout.enabled_hooks.contains(Hooks::SPLIT_WRITE);
        if drive.spec.flush.is_some() && (layout.map != MapKind::Page || splits_writes) {
            let what = if layout.map == MapKind::ValidSectors {
                "mapping.partial = \"valid-sectors\" programs parts of pages, and ack.flush delays whole \
                 pages"
            } else {
                "it packs parts of pages in RAM itself, and ack.flush delays whole pages"
            };
            return Err(refuse(format!("{what}; set ack.flush = \"at-once\"")));
        }
        let state = State::new(drive, &layout, refuse)?;
        Ok(Layer {
            store: Store::new(media, state.geometry.sector, state.map_kind().knows_sectors()),
            requests: Requests::default(),
            out: Outbox::default(),
            held_dies: HeldDies::new(state.geometry.dies),
            idle_jobs: IdleJobs::new(state.geometry.dies),
            gathering: Gathering::default(),
            moves: Moves::default(),
            merge_buffer: MergeBuffer::new(&drive.spec.merge),
            write_buffer: WriteBuffer::of(drive.spec.flush, state.config.ack),
            read_cache: ReadCache::of((drive.spec.dram.read_cache.0 / drive.spec.unit.0) as usize),
            read_errors: vec![],
            progress: ProgressWatch::new(state.geometry.blocks),
            state,
            seat: Seat {
                hooks: layout.enabled_hooks,
                writes_until_tick: layout.tick_every_writes,
                layout,
                scheme,
            },
        })
    }
}
