"""What metrics have in common."""
