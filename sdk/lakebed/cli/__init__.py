"""The `lakebed` command: thin verbs over the SDK. `main` is the entry point, `docs/cli.md` the manual.

No verb imports pandas or pyarrow, and everything that costs start-up time is imported when a verb runs.
"""
