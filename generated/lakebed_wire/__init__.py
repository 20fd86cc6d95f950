# generated from openapi.yaml by `make generate` - do not edit
"""What the server shares with openapi.yaml: `models` for bodies, `operations` for everything else."""
