"""Sign-in of people with a provider: OpenID Connect."""
