"""Schemes in Python that repeat one in Rust: a test that the Python contract suffices for them."""
