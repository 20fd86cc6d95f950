"""Checks of a company, as a package that its server has installed. Allow each one with `hooks.python.allow`."""
