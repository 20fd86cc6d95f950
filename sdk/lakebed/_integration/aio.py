"""Functions over the handles of `lakebed.aio`."""

from lakebed._async.integration import (
    ProxiedRef,
    download_folder,
    place_of,
    read_range,
    read_small,
    read_tail,
    reading_after,
    shared_directory,
    signed_address,
    sink_of,
)
from lakebed._async.objects.sinks import LocalSink
from lakebed._async.objects.upload_item import Outgoing, outgoing

__all__ = [
    "LocalSink",
    "Outgoing",
    "ProxiedRef",
    "download_folder",
    "outgoing",
    "place_of",
    "read_range",
    "read_small",
    "read_tail",
    "reading_after",
    "shared_directory",
    "signed_address",
    "sink_of",
]
