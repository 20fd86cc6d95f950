"""Settings of access keys and of sign-in: OpenID Connect, SAML, LDAP, workloads, and the first administrator."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakebed_server.settings.kinds import DURATION, FLAG, TEXT, choice, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """Sign-in with an OpenID Connect provider."""

    issuer: str = setting("", TEXT, "the provider's issuer URL; empty: no sign-in with OpenID Connect")
    client_id: str = setting("", TEXT, "the id of this server at the provider")
    client_secret: str = setting(
        "", TEXT, "the secret of this server at the provider; empty for a public client", secret=True
    )
    scopes: str = setting("openid email profile", TEXT, "scopes to request, separated by spaces")
    redirect_uri: str = setting(
        "",
        TEXT,
        "URL to which the provider returns browsers, as registered there: https://lake.example.com/oidc/callback; "
        "empty: the address that the browser used",
    )
    id_claim: str = setting(
        "", TEXT, "the claim that becomes the id of a new user; empty: email if it is verified, otherwise sub"
    )
    name_claim: str = setting("name", TEXT, "the claim with the display name")
    groups_claim: str = setting("", TEXT, "the claim with the groups: a list, or comma-separated text; empty: none")
    groups_map: str = setting(
        "", TEXT, "Lakebed groups for values of that claim: value=Group, separated by commas; empty: the same names"
    )
    groups_sync: str = setting(
        "first",
        choice("first", "always"),
        "when the claim sets the groups: first, at the first sign-in; always, at each sign-in, which also removes "
        "groups",
    )
    default_groups: str = setting("", TEXT, "groups of a new user, separated by commas")
    required_claims: str = setting("", TEXT, "claims that must have exact values: claim=value, separated by commas")


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlSettings:
    """Sign-in with a SAML 2.0 identity provider."""

    idp_metadata: str = setting(
        "", TEXT, "the provider's metadata: an https URL, or a file; empty: no sign-in with SAML"
    )
    root_url: str = setting("", TEXT, "the address of this server for browsers: https://lake.example.com")
    entity_id: str = setting(
        "", TEXT, "the id of this server at the provider; empty: `auth.saml.root_url` followed by `/saml/metadata`"
    )
    name_id_format: str = setting(
        "", TEXT, "the name identifier format to request; empty: the provider's setting for this server"
    )
    subject_attribute: str = setting(
        "", TEXT, "the attribute that identifies a person and never changes; empty: the name identifier"
    )
    id_attribute: str = setting("", TEXT, "the attribute that becomes the id of a new user; empty: the name identifier")
    name_attribute: str = setting("displayName", TEXT, "the attribute with the display name")
    email_attribute: str = setting("email", TEXT, "the attribute with the e-mail address")
    groups_attribute: str = setting("", TEXT, "the attribute with the groups; empty: none")
    groups_map: str = setting(
        "", TEXT, "Lakebed groups for values of that attribute: value=Group, separated by commas; empty: the same names"
    )
    groups_sync: str = setting(
        "first",
        choice("first", "always"),
        "when the attribute sets the groups: first, at the first sign-in; always, at each sign-in, which also "
        "removes groups",
    )
    default_groups: str = setting("", TEXT, "groups of a new user, separated by commas")


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapSettings:
    """Sign-in with a directory (LDAP)."""

    server: str = setting("", TEXT, "URL of the directory: ldaps://ldap.example.com; empty: no sign-in with LDAP")
    start_tls: bool = setting(False, FLAG, "with ldap://, start TLS before the server sends anything")
    ca_file: str = setting("", TEXT, "CA certificates (PEM) for the directory; empty: those of the system")
    bind_dn: str = setting("", TEXT, "the DN that the server searches as; empty: anonymous")
    bind_password: str = setting("", TEXT, "the password of this DN", secret=True)
    user_base_dn: str = setting("", TEXT, "base DN of the users")
    user_filter: str = setting("(objectClass=person)", TEXT, "filter for entries that are users")
    username_attribute: str = setting(
        "uid",
        TEXT,
        "the attribute with the user name, which becomes the id of a new user; in Active Directory: sAMAccountName",
    )
    subject_attribute: str = setting(
        "entryUUID", TEXT, "the attribute that identifies a person and never changes; in Active Directory: objectGUID"
    )
    name_attribute: str = setting("cn", TEXT, "the attribute with the display name")
    email_attribute: str = setting("mail", TEXT, "the attribute with the e-mail address")
    group_base_dn: str = setting("", TEXT, "base DN of the groups; empty: the server reads no groups")
    group_filter: str = setting(
        "(&(objectClass=groupOfNames)(member={dn}))", TEXT, "filter for groups of the user with the DN {dn}"
    )
    group_attribute: str = setting("cn", TEXT, "the attribute with the name of a group")
    groups_map: str = setting(
        "",
        TEXT,
        "Lakebed groups for groups of the directory: name=Group, separated by commas; empty: the same names",
    )
    groups_sync: str = setting(
        "first",
        choice("first", "always"),
        "when the directory sets the groups: first, at the first sign-in; always, at each sign-in, which also "
        "removes groups",
    )
    default_groups: str = setting("", TEXT, "groups of a new user, separated by commas")
    connect_timeout: float = setting(7.0, DURATION, "timeout of a connection")
    timeout: float = setting(15.0, DURATION, "timeout of a response")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSettings:
    """Tokens of CI systems and clusters that are exchanged for tokens of this server."""

    audience: str = setting("", TEXT, "required audience of these tokens, such as the address of this server")
    rules: str = setting(
        "",
        TEXT,
        "rules that map tokens to users: `ISSUER CLAIM=PATTERN -> USER`, separated by `;`; empty: no exchange",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSettings:
    """Authentication."""

    mode: str = setting(
        "rbac",
        choice("rbac", "single"),
        "rbac: users, groups and policies; single: every access key has all rights, for one person",
    )
    secret_key: str = setting(
        "",
        TEXT,
        "key that encrypts stored access keys and signs tokens, at least 32 characters; empty: "
        "{data_dir}/secret.key, which the server creates on first start",
        secret=True,
    )
    previous_secret_key: str = setting(
        "", TEXT, "the key that `auth.secret_key` replaces, until `lakebed keys rotate-secret` has run", secret=True
    )
    login_duration: float = setting(12 * 3600.0, DURATION, "how long a login token is valid")
    session_limit: float = setting(30 * 24 * 3600.0, DURATION, "how long after a sign-in its token can be renewed")
    oidc: OidcSettings = field(default_factory=OidcSettings)
    saml: SamlSettings = field(default_factory=SamlSettings)
    ldap: LdapSettings = field(default_factory=LdapSettings)
    workloads: WorkloadSettings = field(default_factory=WorkloadSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminSettings:
    """A given access key of the admin."""

    access_key_id: str = setting(
        "",
        TEXT,
        "id of an access key of the admin that the server ensures at each start; empty: the server creates a key on "
        "first start",
    )
    secret_access_key: str = setting("", TEXT, "the secret of this access key, at least 16 characters", secret=True)
