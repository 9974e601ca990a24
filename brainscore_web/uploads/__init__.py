"""Bring packaged data to the site: receive, check, keep, hand out."""
