"""Results: the store of receipts, claims on pairs, exports and averages."""
