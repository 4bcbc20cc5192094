"""Schemes in Python to begin with: each is one of Rust's, and comes to the same bits."""
