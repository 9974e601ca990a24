"""Receipts: what is written down about each score."""
