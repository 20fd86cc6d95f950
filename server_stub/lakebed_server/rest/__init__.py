"""The REST API of openapi.yaml: routing, handlers and serializers."""
