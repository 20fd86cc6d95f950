"""The interface of the SDK for the packages of this repository that build on it: `lakebed._fsspec`, `lakebed_spark`.

They import public names of `lakebed` and these modules, and no other private module; import-linter checks it.

- `sync` and `aio`: functions over the handles of `lakebed` and of `lakebed.aio`. They read ranges and tails of objects,
  find the directory that this machine shares with the server, and give the sink that stores objects for a workspace.
- `values`: settings, data paths, and the classes that read and write a shared directory.

Promise: these packages are released together, so names here may change in any version, together with their users. For
other programs there is no promise.
"""
