# generated from openapi.yaml by `make generate` - do not edit
"""Contains endpoint functions for accessing the API"""
