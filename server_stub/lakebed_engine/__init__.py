"""The versioning engine: repositories, branches, commits and merges over a KV store and an object store.

Stands under `lakebed_server`, over nothing of ours but `lakebed_format`. It speaks no HTTP and knows no users.
Layers, top to bottom: `engine` (the one door; its `verbs`), `operations`, `tree`, `stores`, `vocabulary`.
"""
