//! Counters of what the host asks.

counters! {
    /// Pages of what the host writes.
    pub struct HostCounts => HostFigures {
        /// Bytes of the mapping pages that completed writes touched: the base of the WAF.
        write_page_bytes: u64,
        /// Writes that touch more than one mapping unit.
        multi_page_writes: u64 [default],
    }
}
