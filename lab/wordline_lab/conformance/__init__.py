"""Schemes in Python that repeat one in Rust: what Python has of the contract is enough for them."""
