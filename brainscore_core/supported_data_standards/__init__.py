"""Standards in which data are stored and exchanged."""
