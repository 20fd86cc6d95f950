"""Tools that measure the code itself."""
