"""The `lakebed` command: thin verbs over the SDK. `main` is the door, `docs/cli.md` the manual.

Over the public names of `lakebed`, and little under them (`_graph`, `_wire.Subject`). No verb imports pandas or
pyarrow, and everything that costs start-up time is imported when a verb runs.
"""
