"""Homes of a part of the values of `lakebed.model`."""
