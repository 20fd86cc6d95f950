"""Object bytes, both ways, with bounded memory: request bodies, forms, ranges, uploads and downloads."""
