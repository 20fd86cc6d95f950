"""The correctness page: its proofs, their reports, and the run that writes the page."""
