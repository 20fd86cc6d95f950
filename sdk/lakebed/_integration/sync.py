"""Functions over the handles of `lakebed`."""

from lakebed._sync.integration import (
    ProxiedRef,
    check_ingest,
    check_write,
    may_commit,
    open_object,
    place_of,
    read_buffer,
    read_range,
    read_small,
    read_tail,
    settings_of,
    shared_directory,
    sink_of,
)
from lakebed._sync.objects.sinks import is_cloud, sees
from lakebed._sync.objects.upload_item import outgoing

__all__ = [
    "ProxiedRef",
    "check_ingest",
    "check_write",
    "is_cloud",
    "may_commit",
    "open_object",
    "outgoing",
    "place_of",
    "read_buffer",
    "read_range",
    "read_small",
    "read_tail",
    "sees",
    "settings_of",
    "shared_directory",
    "sink_of",
]
