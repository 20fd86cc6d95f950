"""`lakebed pr`: pull requests."""
