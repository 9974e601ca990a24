"""Networks that take clips: images are shown to them as short clips in which nothing moves."""
