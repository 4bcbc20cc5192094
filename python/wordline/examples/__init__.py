"""Schemes in Python to begin with: those that Rust has come to the same bits."""
