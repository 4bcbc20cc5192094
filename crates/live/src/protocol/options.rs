//! Parses the data of options ("Option types"). They come from a client and are not trusted.

use crate::protocol::numbers::{BASE_ALLOCATION, MAX_STRING};

/// Why an option is refused whose data cannot be parsed.
pub(crate) const MALFORMED: &str =
    "malformed data: inconsistent lengths, a string of more than 4096 bytes, or one that is not UTF-8";

/// Bytes of a client, read from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// A string, which follows its length.
    fn string(&mut self) -> Option<&'a str> {
        let length = self.u32()? as usize;
        if length > MAX_STRING {
            return None;
        }
        std::str::from_utf8(self.take(length)?).ok()
    }
}

/// The request of `NBD_OPT_INFO` and `NBD_OPT_GO`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct InfoAsked {
    /// The export's name.
    pub name: String,
    /// The requested information, by number.
    pub infos: Vec<u16>,
}

/// Parse the data of `NBD_OPT_INFO` or `NBD_OPT_GO`. Nothing if they are incomplete.
pub(crate) fn info(data: &[u8]) -> Option<InfoAsked> {
    let mut reader = Reader(data);
    let name = reader.string()?.to_string();
    let count = reader.u16()?;
    // The count must match the number of bytes.
    if reader.0.len() != usize::from(count) * 2 {
        return None;
    }
    let infos = (0..count).map(|_| reader.u16()).collect::<Option<_>>()?;
    Some(InfoAsked { name, infos })
}

/// The request of `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ContextsAsked {
    /// The export's name.
    pub name: String,
    /// Whether `base:allocation` is among the contexts.
    pub allocation: bool,
}

/// Parse their data. Nothing if they are incomplete. With `lists`, an empty list of queries requests all
/// contexts, and `base:` requests those of this namespace.
pub(crate) fn contexts(data: &[u8], lists: bool) -> Option<ContextsAsked> {
    let mut reader = Reader(data);
    let name = reader.string()?.to_string();
    let count = reader.u32()?;
    let mut allocation = lists && count == 0;
    for _ in 0..count {
        let query = reader.string()?;
        allocation |= query == BASE_ALLOCATION || lists && query == "base:";
    }
    reader.0.is_empty().then_some(ContextsAsked { name, allocation })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> Vec<u8> {
        [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
    }

    #[test]
    fn the_data_of_an_option_are_read_whole_or_not_at_all() {
        let go = [string("disk"), vec![0, 2, 0, 3, 0, 1]].concat();
        assert_eq!(info(&go), Some(InfoAsked { name: "disk".into(), infos: vec![3, 1] }));
        let set = [string("disk"), vec![0, 0, 0, 2], string("qemu:x"), string("base:allocation")].concat();
        assert_eq!(contexts(&set, false), Some(ContextsAsked { name: "disk".into(), allocation: true }));
        for n in 0..go.len() {
            assert_eq!(info(&go[..n]), None);
        }
        for n in 0..set.len() {
            assert_eq!(contexts(&set[..n], false), None);
        }
        assert_eq!(info(&[go, vec![0]].concat()), None);
        assert_eq!(contexts(&[set, vec![0]].concat(), false), None);
    }

    #[test]
    fn a_length_that_lies_costs_nothing() {
        assert_eq!(info(&[0xff; 6]), None);
        let many = [string(""), u32::MAX.to_be_bytes().to_vec()].concat();
        assert_eq!(contexts(&many, false), None);
        let long = [((MAX_STRING + 1) as u32).to_be_bytes().to_vec(), vec![b'a'; MAX_STRING + 1], vec![0, 0]];
        assert_eq!(info(&long.concat()), None);
    }

    #[test]
    fn empty_list_asks_for_all_and_empty_set_for_nothing() {
        let none = [string(""), vec![0; 4]].concat();
        assert!(contexts(&none, true).is_some_and(|c| c.allocation));
        assert!(contexts(&none, false).is_some_and(|c| !c.allocation));
        let base = [string(""), vec![0, 0, 0, 1], string("base:")].concat();
        assert!(contexts(&base, true).is_some_and(|c| c.allocation));
        assert!(contexts(&base, false).is_some_and(|c| !c.allocation));
    }
}
