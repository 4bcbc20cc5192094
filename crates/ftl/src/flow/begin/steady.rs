//! The steady state as the initial state of a drive: each block holds as many valid pages, of each update rate, as the
//! victim rule leaves under the workload.
//!
//! No closed form covers all rules and workloads, and a mean-field model of several update rates under greedy
//! collection has one dimension for each rate. The state is therefore sampled: a plane without timing
//! (`initial/untimed.rs`) is written until its write amplification is constant (`initial/windows.rs`). If the workload
//! is a law, one plane represents all planes (`initial/sample.rs`), with fewer blocks if blocks are many, and its
//! blocks are distributed over the drive; if it is a stream with an order of its own, each plane is written with its
//! part of the stream.

use crate::flow::begin::precondition::{adopt_image, begin, media_hold};
use crate::flow::collect::victim::collect_if_short;
use crate::image::base::{BaseImage, PlaneBase, PlanePages, Ranks};
use crate::initial::initial::Initial;
use crate::initial::steady_types::{Begun, Contents, Known, Regime, SteadyError, Updates};
use crate::initial::untimed::Shape;
use crate::layer::{Layer, Seat};
use crate::map::Map;
use crate::plan::layout::Hooks;
use crate::plan::region::MapKind;
use crate::start::steady_plan::{SteadyPlan, largest};
use crate::state::blocks::Blocks;
use crate::state::blocks::at_rest::recount;
use crate::state::blocks::block_wear::age_data;
use crate::state::blocks::superblock_members::has_superblocks;
use wordline_units::{Fraction, PlaneId};

/// Maximum relative difference between the data of two planes that one sample represents.
const LEVEL: f64 = 0.01;

/// Planes by amount of data: one group for all, or, if uneven, one for planes that hold about the same amount.
fn levels(shapes: &[Shape], is_uneven: bool) -> Vec<(u32, Shape)> {
    let mean = shapes.iter().map(|s| f64::from(s.pages)).sum::<f64>() / shapes.len() as f64;
    let level =
        |shape: &Shape| if is_uneven { (f64::from(shape.pages) / mean / LEVEL).round() as u32 } else { 0 };
    shapes.iter().map(|shape| (level(shape), *shape)).collect()
}

/// Put the drive into the steady state of a workload. `initial` gives the pages that hold data, and the
/// P/E cycles.
///
/// # Errors
/// If the scheme has several regions or a collection rule of its own, the map is not page-level, or data leave
/// nothing to collect or fewer free blocks than the trigger requires; the drive must then be discarded.
pub(crate) fn precondition_steady(
    layer: &mut Layer,
    initial: &Initial,
    updates: Updates,
    known: Known,
    seed: u64,
) -> Result<Begun, SteadyError> {
    is_plain(&layer.state.blocks, &layer.state.map, &layer.seat)?;
    if layer.state.wear.spec.bad_blocks > Fraction::ZERO {
        return Err(SteadyError::BadBlocks);
    }
    if layer.state.demand.is_some() {
        return Err(SteadyError::MapCache);
    }
    if has_superblocks(&layer.state.blocks, layer.state.blocks.home()) {
        return Err(SteadyError::Superblocks);
    }
    if initial.mapped.count() == 0 {
        return Err(SteadyError::Empty);
    }
    begin(layer, initial, seed)?;
    let stripe = layer.state.blocks.stripe().with_shares(known.shares());
    let plan = SteadyPlan::new(&layer.state, &layer.seat.layout);
    let pages = PlanePages::of(&stripe, &initial.mapped, &(0..0));
    let pages_a_write = match &updates {
        Updates::Law(law) => law.mean_length(),
        Updates::Stream(_) => 1.0,
    };
    plan.trigger_is_reached(&pages)?;
    let (regime, contents) = match known {
        Known::Contents(contents) => (contents.begun.regime, Some(contents)),
        Known::Regime(regime, _) => (regime, None),
        Known::Outstanding(requests, _) => {
            // Pages in a write buffer are in flight, too.
            let buffered = layer.state.config.buffer_pages.unwrap_or(0) as f64;
            let under_way = requests.map_or(0.0, |n| (n as f64 * pages_a_write).max(buffered));
            (Regime::unhurried(plan.erased_at_choice(under_way, &pages)), None)
        }
    };
    let (begun, mut planes) = match updates {
        Updates::Law(law) => {
            let shapes = plan.untimed_shapes(&pages, regime)?;
            match contents {
                None => {
                    let levels = levels(&shapes, !known.shares().is_empty());
                    plan.by_law(law, &initial.mapped, &pages, &levels, regime, seed)
                }
                Some(Contents { begun, planes, .. }) => {
                    let (sample, _) = plan.sample_of(law, &initial.mapped, largest(&shapes), regime);
                    let like = planes.iter().map(|blocks| (&sample, blocks.len() as u32, blocks));
                    (*begun, plan.dealt_out(law, &pages, like, seed))
                }
            }
        }
        Updates::Stream(stream) => plan.by_stream(stream, &stripe, &pages, regime, seed)?,
    };
    let home = layer.state.blocks.home();
    let mut planes = planes.drain(..);
    let image = BaseImage::new(
        &layer.state.geometry,
        stripe.clone(),
        &initial.mapped,
        &(0..0),
        |plane| layer.state.blocks.pool_of(home).blocks_in(&layer.state.geometry, plane).start,
        |_, _| planes.next().unwrap_or_else(|| (PlaneBase::default(), Ranks::listed(vec![]))),
    );
    drop(planes);
    adopt_image(layer, image);
    media_hold(&layer.out)?;
    age_data(&layer.state.blocks, &mut layer.state.aging, layer.state.now, initial.retention);
    recount(&mut layer.state.blocks, &layer.state.map);
    // Collect planes that are short of space.
    stripe.planes().for_each(|plane| collect_if_short(layer, home, PlaneId(plane)));
    Ok(begun)
}

fn is_plain(blocks: &Blocks, map: &Map, seat: &Seat) -> Result<(), SteadyError> {
    let no = |why| Err(SteadyError::Scheme { scheme: seat.scheme.name().to_string(), why });
    if blocks.regions().len() > 1 {
        return no("has more than one region");
    }
    if seat.hooks.contains(Hooks::COLLECT) {
        return no("chooses its own victims");
    }
    if map.kind() != MapKind::Page {
        return no("maps sectors instead of pages");
    }
    Ok(())
}
