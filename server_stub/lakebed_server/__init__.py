"""The reference server: the REST API of openapi.yaml over `lakebed_engine`.

From the wire inwards: `app` and `api` (ASGI) > `routing` > `auth` > `binder` > `handlers` > the engine. Errors become
responses in `errors` and nowhere else. Object bytes move through `http`. `serve` and `cli` start it all.
"""
