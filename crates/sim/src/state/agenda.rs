//! Who is to be asked what may begin, in which order.

/// Somebody whom an event has touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ask {
    /// What a plane offers next.
    Plane(u32),
    /// Whom an array serves.
    Array(u32),
    /// Whom a bus serves.
    Bus(u32),
}

/// Those who are still to be asked: between two events nobody. What follows from one goes before what followed from the one before: a stack, so
/// whoever has several asked names the last of them first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    asks: Vec<Ask>,
    /// With multi-plane commands, planes at which something has been queued, which are asked once all has been.
    queued: Vec<u32>,
}

impl Agenda {
    /// Ask a plane before all others.
    #[inline(always)]
    pub fn ask(&mut self, ask: Ask) {
        self.asks.push(ask);
    }

    /// The same, if the plane has an operation that could start.
    #[inline(always)]
    pub fn ask_if(&mut self, is_due: bool, ask: Ask) {
        if is_due {
            self.asks.push(ask);
        }
    }

    /// The next plane to ask.
    #[inline(always)]
    pub fn next(&mut self) -> Option<Ask> {
        self.asks.pop()
    }

    /// Whether all planes but the deferred ones have been asked.
    #[inline(always)]
    pub fn is_done(&self) -> bool {
        self.asks.is_empty()
    }

    /// An operation has been queued at a plane, which is asked after all others have been queued.
    pub fn ask_later(&mut self, plane: u32) {
        self.queued.push(plane);
    }

    /// Whether a plane is deferred.
    #[inline(always)]
    pub fn has_later(&self) -> bool {
        !self.queued.is_empty()
    }

    /// The deferred planes, in their order; [`Self::reuse`] takes the list back.
    pub fn take_later(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.queued)
    }

    /// Take back a list for reuse.
    pub fn reuse(&mut self, mut planes: Vec<u32>) {
        planes.clear();
        self.queued = planes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What follows from one event goes before what followed from the event before it.
    #[test]
    fn later_consequences_precede_earlier_ones() {
        let mut agenda = Agenda::default();
        agenda.ask(Ask::Array(1));
        agenda.ask(Ask::Plane(2));
        assert_eq!(agenda.next(), Some(Ask::Plane(2)));
        // The plane has its bus asked, and then its array.
        agenda.ask(Ask::Array(0));
        agenda.ask(Ask::Bus(3));
        let asked: Vec<Ask> = std::iter::from_fn(|| agenda.next()).collect();
        assert_eq!(asked, [Ask::Bus(3), Ask::Array(0), Ask::Array(1)]);
        assert!(agenda.is_done());
    }

    #[test]
    fn planes_asked_later_keep_their_queueing_order() {
        let mut agenda = Agenda::default();
        [2, 0, 2].into_iter().for_each(|plane| agenda.ask_later(plane));
        assert!(agenda.has_later() && agenda.is_done());
        let planes = agenda.take_later();
        assert_eq!(planes, [2, 0, 2]);
        agenda.reuse(planes);
        assert!(!agenda.has_later());
    }
}
