"""The site of the docs: what mkdocs.yml needs beyond MkDocs, and a check of the built pages."""
