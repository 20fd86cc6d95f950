"""The pull requests of a repository."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from lakebed import _checks
from lakebed._async.http.pagination import Listing
from lakebed._async.http.transport import Transport
from lakebed._gateway.calls import clean
from lakebed._gateway.operations import pulls
from lakebed.errors import Conflict, OutcomeUnknownError
from lakebed.model import (
    CommitCheck,
    MergeResult,
    PullRequest,
    PullRequestComment,
    PullRequestEvent,
    PullRequestReview,
    PullRequestState,
)

Verdict = Literal["approve", "request_changes", "comment"]


class Pulls:
    """The pull requests of one repository: `repo.pulls`. Every method raises PermissionDeniedError without permission.

    A method with the `id` of a pull request raises NotFoundError if there is none, and InvalidRequestError if the id is
    malformed. docs/pull-requests.md explains reviews and merges.
    """

    __module__ = "lakebed.aio"

    def __init__(self, transport: Transport, repository: str) -> None:
        self._transport = transport
        self._repository = repository

    def list(self, status: Literal["open", "closed", "all"] = "open", limit: int | None = None) -> Listing[PullRequest]:
        """List pull requests, newest first. `closed` includes merged ones.

        Example:

            for pull in repo.pulls.list():
                print(pull.id, pull.title)
        """
        return Listing(
            self._transport,
            lambda after, amount: pulls.pulls_page(self._repository, status, after, amount),
            PullRequest.COLUMNS,
            f"pull requests of {self._repository}",
            limit=limit,
        )

    async def create(
        self,
        source: str,
        destination: str,
        title: str,
        description: str = "",
        *,
        draft: bool = False,
        reviewers: Iterable[str] = (),
    ) -> PullRequest:
        """Open a pull request from one branch into another. `description` is CommonMark.

        `reviewers` are ids of users, or `@` with the id of a group.

            pull = repo.pulls.create("dev", "main", "Add June", reviewers=["ben"])

        Raises NotFoundError for a branch or reviewer, InvalidRequestError.
        """
        body = {
            "title": _checks.check_text(title, "title"),
            "description": _checks.check_text(description, "description"),
            "source_branch": _checks.check_name(source, "branch name"),
            "destination_branch": _checks.check_name(destination, "branch name"),
            **({"draft": True} if draft else {}),
        }
        id = await self._transport.call(pulls.create(self._repository, body))
        asked = [_checks.check_name(reviewer, "reviewer") for reviewer in reviewers]
        if asked:
            await self.set_reviewers(id, asked)
        return await self.get(id)

    async def get(self, id: str) -> PullRequest:
        """Return a pull request.

        Example:

            print(repo.pulls.get(pull.id).status)
        """
        return await self._transport.call(pulls.get(self._repository, _id(id)))

    async def update(
        self,
        id: str,
        *,
        title: str | None = None,
        description: str | None = None,
        draft: bool | None = None,
        status: Literal["open", "closed"] | None = None,
        auto_merge: bool | None = None,
        strategy: str = "",
        message: str = "",
    ) -> PullRequest:
        """Change a pull request, close or reopen it. None keeps a field.

        With `auto_merge` the server merges it when nothing blocks it, with `strategy` and `message` as in `merge`.

        Raises ConflictError for a merged pull request, NotFoundError when a branch no longer exists.

            repo.pulls.update(pull.id, title="Add June and July")
        """
        asked = {"title": title, "description": description, "draft": draft, "status": status}
        changes: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        if auto_merge is not None:
            changes["auto_merge"] = {"enabled": auto_merge, **clean(strategy=strategy, message=message)}
        await self._transport.call(pulls.update(self._repository, _id(id), changes))
        return await self.get(id)

    async def merge(
        self,
        id: str,
        message: str = "",
        *,
        source_commit_id: str = "",
        strategy: str = "",
        squash: bool = False,
        metadata: Mapping[str, str] | None = None,
        resolve: Mapping[str, str] | None = None,
    ) -> MergeResult:
        """Merge the head of the source into the destination, and close the pull request atomically.

        With `source_commit_id`, the server refuses if the source has moved. `strategy`, `squash` and
        `resolve` are as in `ref.merge_into`.

        Raises MergeConflictError (with `.paths`), and ConflictError, whose `kind` says why: `pull_closed`,
        `source_moved`, or `not_mergeable` for a draft, missing approvals or checks. Raises DirtyBranchError,
        NothingToCommitError, and OutcomeUnknownError if the answer was lost and the merge was not made yet.

            repo.pulls.merge(pull.id)
        """
        body: dict[str, Any] = clean(message=message, source_commit_id=source_commit_id, strategy=strategy)
        if squash:
            body["squash_merge"] = True
        if metadata:
            body["metadata"] = _checks.check_metadata(dict(metadata), "metadata")
        if resolve:
            body["resolve"] = [{"pattern": pattern, "side": side} for pattern, side in resolve.items()]
        try:
            return MergeResult(await self._transport.call(pulls.merge(self._repository, _id(id), body)))
        except OutcomeUnknownError:
            merged = (await self.get(id)).merged_commit_id
            if not merged:
                raise
            return MergeResult(merged)

    async def state(self, id: str) -> PullRequestState:
        """Return whether the pull request can be merged, and what blocks it.

        Example:

            print(repo.pulls.state(pull.id).mergeable)
        """
        return await self._transport.call(pulls.state(self._repository, _id(id)))

    def conflicts(self, id: str, limit: int | None = None) -> Listing[Conflict]:
        """List the paths that both branches changed. Reading it raises ConflictError when it is not open.

        Example:

            paths = [conflict.path for conflict in repo.pulls.conflicts(pull.id)]
        """
        checked = _id(id)
        return Listing(
            self._transport,
            lambda after, amount: pulls.conflicts_page(self._repository, checked, after, amount),
            Conflict.COLUMNS,
            f"conflicts of {id}",
            limit=limit,
        )

    def timeline(self, id: str, limit: int | None = None) -> Listing[PullRequestEvent]:
        """List what happened, oldest first.

        Example:

            for event in repo.pulls.timeline(pull.id):
                print(event.date, event.type)
        """
        checked = _id(id)
        return Listing(
            self._transport,
            lambda after, amount: pulls.events_page(self._repository, checked, after, amount),
            PullRequestEvent.COLUMNS,
            f"timeline of {id}",
            limit=limit,
        )

    async def set_reviewers(self, id: str, reviewers: Iterable[str]) -> None:
        """Replace the users, and `@` groups, that should review. Raises NotFoundError for an unknown one.

        Example:

            repo.pulls.set_reviewers(pull.id, ["ana", "ben"])
        """
        checked = [_checks.check_name(reviewer, "reviewer") for reviewer in reviewers]
        await self._transport.call(pulls.set_reviewers(self._repository, _id(id), checked))

    async def reviews(self, id: str) -> builtins.list[PullRequestReview]:
        """Return the reviews, oldest first.

        Example:

            for review in repo.pulls.reviews(pull.id):
                print(review.author, review.verdict)
        """
        return await self._transport.call(pulls.reviews(self._repository, _id(id)))

    async def review(
        self, id: str, verdict: Verdict, body: str = "", *, source_commit_id: str = ""
    ) -> PullRequestReview:
        """Review the head of the source: `approve`, `request_changes` or `comment`.

        An approval counts until the source gets another commit. A request for changes blocks the merge until its author
        approves, or it is dismissed. With `source_commit_id`, the server refuses if the source has moved.

        Raises ConflictError when it is not open or the source has moved, PermissionDeniedError for the author.

            repo.pulls.review(pull.id, "request_changes", "the price of June is missing")
        """
        sent = {"verdict": verdict, **clean(body=body, source_commit_id=source_commit_id)}
        return await self._transport.call(pulls.create_review(self._repository, _id(id), sent))

    async def approve(self, id: str, body: str = "", *, source_commit_id: str = "") -> PullRequestReview:
        """Approve: the same as `review` with `approve`.

        Example:

            repo.pulls.approve(pull.id, "looks right")
        """
        return await self.review(id, "approve", body, source_commit_id=source_commit_id)

    async def approvals(self, id: str) -> builtins.list[str]:
        """Return the users whose approval counts."""
        return await self._transport.call(pulls.approvals(self._repository, _id(id)))

    async def withdraw_approval(self, id: str) -> None:
        """Withdraw your approval. Raises NotFoundError if you have none that counts."""
        await self._transport.call(pulls.withdraw_approval(self._repository, _id(id)))

    async def dismiss_review(self, id: str, review: int, message: str = "") -> None:
        """Dismiss your own review, or any review with the permission to set protection rules."""
        await self._transport.call(pulls.dismiss_review(self._repository, _id(id), review, message))

    async def comments(self, id: str, path: str = "") -> builtins.list[PullRequestComment]:
        """Return the comments, oldest first; with `path` only those on it.

        Example:

            for comment in repo.pulls.comments(pull.id):
                print(comment.path, comment.body)
        """
        return await self._transport.call(pulls.comments(self._repository, _id(id), path))

    async def comment(
        self,
        id: str,
        body: str,
        *,
        path: str = "",
        column: str = "",
        row_key: str = "",
        side: Literal["", "left", "right"] = "",
        reply_to: int | None = None,
        commit_id: str = "",
    ) -> PullRequestComment:
        """Comment on the pull request, or on a path, a column or a row of a table.

        `row_key` is any text that identifies the row for the readers. `side`: the destination (left) or the source.
        Raises NotFoundError when there is no comment `reply_to`.

            repo.pulls.comment(pull.id, "in euros?", path="orders/june.csv", column="price")
        """
        sent = clean(
            body=body, path=path, column=column, row_key=row_key, side=side, reply_to=reply_to, commit_id=commit_id
        )
        return await self._transport.call(pulls.create_comment(self._repository, _id(id), {"body": body, **sent}))

    async def update_comment(
        self, id: str, comment: int, body: str | None = None, *, resolved: bool | None = None
    ) -> PullRequestComment:
        """Change the text of your comment, or mark a comment as resolved."""
        asked = {"body": body, "resolved": resolved}
        changes = {name: value for name, value in asked.items() if value is not None}
        return await self._transport.call(pulls.update_comment(self._repository, _id(id), comment, changes))

    async def delete_comment(self, id: str, comment: int) -> None:
        """Delete your comment."""
        await self._transport.call(pulls.delete_comment(self._repository, _id(id), comment))

    async def checks(self, ref: str) -> builtins.list[CommitCheck]:
        """Return the checks of a commit, by name. Raises NotFoundError.

        Example:

            for check in repo.pulls.checks("dev"):
                print(check.name, check.state)
        """
        return await self._transport.call(pulls.checks(self._repository, _checks.check_name(ref, "ref")))

    async def report_check(
        self,
        ref: str,
        name: str,
        state: Literal["pending", "success", "failure"],
        description: str = "",
        url: str = "",
    ) -> CommitCheck:
        """Report the state of a check of a commit, in place of the state before. Needs `ci:WriteCheck`.

            repo.pulls.report_check(commit_id, "freshness", "success")

        Raises NotFoundError and InvalidRequestError.
        """
        body = {"name": name, "state": state, **clean(description=description, url=url)}
        return await self._transport.call(pulls.report_check(self._repository, _checks.check_name(ref, "ref"), body))


def _id(id: str) -> str:
    return _checks.check_name(id, "id of a pull request")
