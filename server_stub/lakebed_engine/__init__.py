"""The versioning engine: repositories, branches, commits and merges over a KV store and an object store.

It contains no HTTP and no users. The server adds both.
"""
