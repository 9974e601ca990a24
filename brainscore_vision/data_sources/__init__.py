"""Where data come from: names in registries and catalogs, and packages that stay on this machine."""
