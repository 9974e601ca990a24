"""What models have in common."""
