//! The power fails: what is left, and what recovery makes of it.

use crate::bench::{self, Bench, Order};
use wordline_ftl::{Cause, OpKind};
use wordline_units::{CellMode, Lpn};

fn one() -> Bench {
    Bench::new(bench::one(CellMode::Slc), &[])
}

fn places(b: &mut Bench) -> Vec<Vec<u32>> {
    let pages = (b.truth.sectors() / 4) as u32;
    (0..pages).map(|page| b.ftl.tables().locate(Lpn(page)).iter().map(|at| at.ppn.0).collect()).collect()
}

#[test]
fn recovered_map_is_the_committed_one() {
    for plan in
        [bench::one(CellMode::Mlc), bench::one_shot(), bench::lanes(), bench::cache(), bench::sectors()]
    {
        let mut b = Bench::new(plan, &[]);
        b.order = Order::Last;
        for i in 0..70 {
            b.write(i * 7 % 16, i % 3, 1 + (i % 2) as u32);
            b.run();
        }
        let before = places(&mut b);
        let wear: Vec<_> = b.ftl.inspect().wear().collect();
        let mut b = b.cut();
        assert_eq!(places(&mut b), before);
        assert_eq!(b.ftl.inspect().wear().collect::<Vec<_>>(), wear);
        b.verify();
        b.fill((0..40).map(|i| i * 3 % 16));
        b.verify();
    }
}

#[test]
fn cut_program_leaves_torn_slots_nobody_uses() {
    let mut b = one();
    b.fill([0]);
    b.write(0, 0, 4);
    let program = b.queued(OpKind::Program, Cause::Host).unwrap();
    b.begin(program);
    let torn = b.ftl.op(program).ppn;
    let mut b = b.cut_with(&[program], |image| assert_eq!(image.in_flight, [1]));
    assert_eq!(b.ftl.media().metadata().unwrap().torn(b.drive.geometry.slot_shift), [torn]);
    b.verify();
    b.fill([1, 2, 3]);
    assert!((0..16).all(|page| b.ftl.tables().locate(Lpn(page)).iter().all(|at| at.ppn != torn)));
    b.verify();
}

#[test]
fn an_erase_that_is_cut_is_done_again() {
    let mut b = one();
    b.fill(0..16);
    let mut erases = None;
    for i in 0..200 {
        b.write(i * 5 % 16, 0, 4);
        while erases.is_none() && b.step() {
            erases = b.under_way.iter().copied().find(|id| b.ftl.op(*id).kind == OpKind::Erase);
        }
        if erases.is_some() {
            break;
        }
    }
    let erase = erases.expect("nothing was erased");
    let block = b.drive.geometry.block_of(b.ftl.op(erase).ppn);
    let before = b.ftl.view().erases(block);
    let mut b = b.cut();
    assert_eq!(b.ftl.view().erases(block), before + 1);
    b.verify();
}

// And no older copy comes back.
#[test]
fn cut_undoes_an_unflushed_trim_but_no_flushed_one() {
    let mut b = one();
    b.fill([0, 0, 1]);
    b.trim(0, 0, 4);
    b.trim(1, 0, 4);
    // Collection erases the copies that the trims have invalidated.
    b.fill((0..60).map(|i| 2 + i % 14));
    let mut b = b.cut_with(&[], |image| assert!(image.protected_trims() > 0));
    b.verify();
    b.flush();
    b.run();
    let mut b = b.cut();
    b.verify();
}

#[test]
fn data_in_a_protected_program_buffer_outlive_a_cut() {
    let mut b = Bench::new(bench::cache().with(|r| r.protected = r.name == "D"), &[]);
    let mut protected = 0;
    for i in 0..60 {
        b.write(i * 7 % 16, 0, 4);
        b.settle();
        if i % 9 == 8 {
            let of_image = std::cell::Cell::new(0);
            b = b.cut_with(&[], |image| of_image.set(image.protected_pages().count()));
            protected += of_image.get();
            b.verify();
        }
    }
    assert!(protected > 0);
    b.drain();
    b.verify();
}

#[test]
fn only_the_writing_layout_recovers_a_drive() {
    let mut b = Bench::new(bench::one(CellMode::Mlc), &[]);
    b.fill(0..8);
    let drive = b.drive.clone();
    let image = b.ftl.power_cut(&[]);
    let other = Box::new(bench::Told::new(bench::one(CellMode::Slc)));
    let refusal = wordline_ftl::Ftl::recover(&drive.info(), other, image, b.now).map(|_| ()).unwrap_err();
    assert!(
        refusal.reason.contains(
            "which this layout does not use; power on with the same device, scheme and parameters as before"
        ),
        "{refusal}"
    );
}
