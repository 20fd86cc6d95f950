"""Settings, data paths, and the classes that read and write a directory shared with the server."""

from lakebed._direct.directory import Directory, Writing, Written, is_plain
from lakebed._direct.shared_directory import SharedDirectory, directory_of, open_file, read_file, read_into
from lakebed._direct.shared_directory import read_range as read_file_range
from lakebed._files import RangeRaw, TextObjectWriter, appearing
from lakebed._http.object_frames import ObjectRead
from lakebed._process.exit import held_by_arrow
from lakebed._settings import config, default_lake
from lakebed._settings.config import Settings
from lakebed._values.ingest import Source as IngestSource
from lakebed._values.ingest import refuse_empty
from lakebed._values.signed import DIRECT, PROXIED, wanted_path
from lakebed._values.uri import SCHEMES
from lakebed._values.workspaces import WorkspaceOptions, advise, new_id

__all__ = [
    "DIRECT",
    "PROXIED",
    "SCHEMES",
    "Directory",
    "IngestSource",
    "ObjectRead",
    "RangeRaw",
    "Settings",
    "SharedDirectory",
    "TextObjectWriter",
    "WorkspaceOptions",
    "Writing",
    "Written",
    "advise",
    "appearing",
    "config",
    "default_lake",
    "directory_of",
    "held_by_arrow",
    "is_plain",
    "new_id",
    "open_file",
    "read_file",
    "read_file_range",
    "read_into",
    "refuse_empty",
    "wanted_path",
]
