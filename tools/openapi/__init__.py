"""`openapi.yaml` for the lint and the generators: reading it, its rules, and what is generated from it."""
