"""Questions about stored scores: asked on a page or through the API, and answered by workers."""
