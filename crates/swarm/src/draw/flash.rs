//! Chips drawn at random: topology, modes, times, registers and errors.

use crate::rng::Rng;
use wordline_flash::{
    Beyond, CacheRegister, CommandOverhead, ErrorModel, MOST_RETRIES, Medium, ModeErrors, ModeTiming,
    Refresh, Topology,
};
use wordline_units::{Bytes, CellMode, Rate, SimDuration};

/// A medium with these cell modes and one or several units per page.
pub(crate) fn medium(rng: &mut Rng, name: &str, modes: &[CellMode], unit: u64) -> Medium {
    Medium {
        name: name.into(),
        topology: topology(rng),
        blocks_per_plane: rng.count(7, 18),
        wordlines_per_block: rng.count(2, 6),
        // A page has at most 32 sectors.
        page: Bytes(unit * rng.pick(&[1, 1, 2, 4])),
        modes: timings(rng, modes),
        bus: rng.pick(&[
            Rate::OFF,
            Rate { bytes: 1, nanoseconds: 1 },
            Rate { bytes: 1, nanoseconds: 20 },
            Rate { bytes: 1_200, nanoseconds: 1_000 },
        ]),
        command: command(rng),
        command_further: rng.once_in(2).then_some(CommandOverhead {
            read: SimDuration(650),
            program: SimDuration(816),
            erase: SimDuration(700),
        }),
        cache_register: cache_register(rng),
        energy: None,
    }
}

/// At most eight planes.
fn topology(rng: &mut Rng) -> Topology {
    loop {
        let drawn = Topology {
            channels: rng.count(1, 3),
            chips_per_channel: rng.count(1, 2),
            dies_per_chip: rng.count(1, 2),
            planes_per_die: rng.count(1, 3),
        };
        if drawn.planes() <= 8 {
            return drawn;
        }
    }
}

fn timings(rng: &mut Rng, modes: &[CellMode]) -> [Option<ModeTiming>; 4] {
    let instant = rng.once_in(24);
    let endurance = if rng.once_in(2) { rng.count(300, 100_000) } else { 0 };
    let mut timings = [const { None }; 4];
    for mode in modes {
        timings[mode.index()] = Some(timing(rng, *mode, instant, endurance));
    }
    timings
}

/// Times of a mode: page by page, perhaps with copy-back, or one-shot.
fn timing(rng: &mut Rng, mode: CellMode, instant: bool, endurance: u32) -> ModeTiming {
    let bits = mode.bits() as usize;
    let mut time = |low, high| if instant { SimDuration::ZERO } else { rng.time(low, high) };
    let mut timing = ModeTiming {
        read: [SimDuration::ZERO; 4],
        program: [SimDuration::ZERO; 4],
        erase: time(20, 400),
        copy_back: None,
        endurance,
        pages_per_program: 1,
    };
    timing.read[..bits].fill_with(|| time(1, 20));
    timing.program[..bits].fill_with(|| time(10, 200));
    if mode != CellMode::Slc && rng.once_in(2) {
        timing.pages_per_program = bits as u8;
        let once = timing.program[0];
        timing.program[..bits].fill(once);
    } else {
        timing.copy_back = rng.once_in(3).then(|| rng.time(10, 200));
    }
    timing
}

fn command(rng: &mut Rng) -> CommandOverhead {
    let most = if rng.once_in(2) { 40 } else { 0 };
    CommandOverhead {
        read: SimDuration(rng.within(0, most) * 50),
        program: SimDuration(rng.within(0, most) * 50),
        erase: SimDuration(rng.within(0, most) * 50),
    }
}

/// Usually no cache register, otherwise one of the ways to use it.
pub(crate) fn cache_register(rng: &mut Rng) -> CacheRegister {
    let (_, used) = rng.pick(&CacheRegister::WORDS);
    if rng.once_in(2) { used } else { CacheRegister::Off }
}

/// Thresholds so low that blocks are refreshed repeatedly.
fn refresh(rng: &mut Rng) -> Refresh {
    Refresh {
        age: rng.once_in(4).then(|| SimDuration(rng.within(1, 800) * 3_600_000_000_000)),
        reads: rng.once_in(4).then(|| rng.count(1, 60)),
        retries: rng.once_in(4).then(|| rng.within(1, 5) as u8),
    }
}

/// Any error model, completed for modes that it leaves out.
pub(crate) fn errors(rng: &mut Rng) -> ErrorModel {
    let models: Vec<ErrorModel> =
        ErrorModel::NAMES.iter().filter_map(|name| ErrorModel::builtin(name)).collect();
    let mut model = rng.pick(&models);
    model.decode = if rng.once_in(2) { rng.time(0, 20) } else { SimDuration::ZERO };
    model.retransfer = rng.once_in(2);
    model.refresh = refresh(rng);
    let known: Vec<ModeErrors> = model.modes.iter().flatten().cloned().collect();
    for (mode, errors) in CellMode::ALL.into_iter().zip(&mut model.modes) {
        let mut drawn = rng.pick(&known);
        for senses in &mut drawn.senses {
            *senses = 0;
        }
        drawn.senses[..mode.bits() as usize].fill_with(|| 1 + rng.below(8) as u8);
        drawn.rber.epsilon = rng.within(1, 30) as f64 / 1000.0;
        drawn.rber.gamma = rng.within(0, 3) as f64 * 1e-4;
        drawn.most_retries = rng.within(0, MOST_RETRIES as u64) as u8;
        drawn.beyond = rng.pick(&[Beyond::Clamp, Beyond::Uncorrectable]);
        *errors = Some(drawn);
    }
    model
}
