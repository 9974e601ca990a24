"""Cards of models and benchmarks, receipts, and lists; pure functions compute their content."""
