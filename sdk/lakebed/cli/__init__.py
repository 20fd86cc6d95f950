"""The `lakebed` command: thin verbs over the SDK. `main` is the door, `docs/cli.md` the manual.

Over the public names of `lakebed`, and nothing under them but `_graph`. No verb imports pandas or pyarrow, and
everything that costs start-up time is imported when a verb runs.
"""
