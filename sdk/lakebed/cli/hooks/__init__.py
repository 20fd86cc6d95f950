"""`lakebed hooks`: runs of hooks, their calls after changes, and action files."""
