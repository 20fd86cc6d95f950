"""What an error should also say: how to go on with work that was kept. Pure; knows the command line's words."""

from __future__ import annotations

SEARCHED = 1000
"""Commits that are searched for a lost one: more than others could have put on top of it."""


def advise(error: BaseException, repository: str, name: str, workspace: str) -> None:
    """Add to an error that a workspace is kept, and how to resume or drop it. Once for each workspace."""
    note = (
        f"The workspace {name} of {repository} stays open with its changes. "
        f'Go on with repo.workspace("{workspace}"), or `lakebed workspace show lakebed://{repository}/{name}`; '
        f'drop it with repo.workspace("{workspace}").drop(), or `lakebed workspace drop lakebed://{repository}/{name}`.'
    )
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
