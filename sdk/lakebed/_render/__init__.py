"""Rows of any value type as HTML, as an Arrow table and as a DataFrame."""
