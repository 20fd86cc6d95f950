"""Calls about imports: a task adds objects of another location to a branch."""

from __future__ import annotations

from collections.abc import Mapping

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, reads
from lakebed._gateway.operations.tasks import failure
from lakebed._values.wire import Call, Subject
from lakebed.model import TaskStatus


def start(
    repository: str, branch: str, sources: Mapping[str, str], message: str, metadata: Mapping[str, str]
) -> Call[str]:
    """Start an import and return its id. A source that ends in a slash is a folder."""
    from lakebed_api.api.imports import import_start
    from lakebed_api.models import (
        CommitCreation,
        CommitCreationMetadata,
        ImportCreation,
        ImportCreationResponse,
        ImportLocation,
        ImportType,
    )

    body = ImportCreation(
        paths=[
            ImportLocation(
                type_=ImportType.COMMON_PREFIX if source.endswith("/") else ImportType.OBJECT,
                path=source,
                destination=destination,
            )
            for source, destination in sources.items()
        ],
        commit=CommitCreation(message=message, metadata=CommitCreationMetadata.from_dict(metadata)),
    )
    return call(
        "importStart",
        import_start._get_kwargs(repository, branch, body=body),
        reads(ImportCreationResponse.from_dict, lambda made: convert.text(made.id)),
        Subject(repository, branch),
        success=202,
    )


def status(repository: str, branch: str, import_id: str) -> Call[TaskStatus]:
    """Return the progress of an import."""
    from lakebed_api.api.imports import import_status
    from lakebed_api.models import ImportStatus

    subject = Subject(repository, branch)

    def read(found: ImportStatus) -> TaskStatus:
        return TaskStatus(
            id=import_id,
            operation="import",
            completed=bool(found.completed),
            updated=found.update_time,
            objects=convert.number(found.ingested_objects, 0),
            commit=convert.commit(found.commit) if found.commit else None,
            error=failure(found.error, "importStart", subject),
        )

    kwargs = import_status._get_kwargs(repository, branch, id=import_id)
    return call("importStatus", kwargs, reads(ImportStatus.from_dict, read), subject)


def cancel(repository: str, branch: str, import_id: str) -> Call[None]:
    """Cancel an import."""
    from lakebed_api.api.imports import import_cancel

    kwargs = import_cancel._get_kwargs(repository, branch, id=import_id)
    return call("importCancel", kwargs, calls.nothing, Subject(repository, branch), success=204)
