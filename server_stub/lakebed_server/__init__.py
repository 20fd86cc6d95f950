"""The reference server: the REST API of openapi.yaml, and an S3 gateway, over `lakebed_engine`.

A request passes the ASGI application (`process.app`, `rest.api`), routing, authentication, binding and a handler, which
calls the engine.
"""
