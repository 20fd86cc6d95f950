# generated from openapi.yaml by `make generate` - do not edit
"""Contains methods for accessing the API"""
