"""The policy language: which user may do what. Pure: no I/O.

`parse_statements` reads policies. `compile_policies` prepares them for decisions. `Compiled.check` returns whether a
user has the permissions that an operation needs. Modules: `actions`, `arn`, `builtin`.
"""

from lakebed_auth.conditions import Condition, Context
from lakebed_auth.errors import PolicyError
from lakebed_auth.evaluate import Compiled, Refusal, compile_policies
from lakebed_auth.needs import AllOf, AnyOf, Need, Needs
from lakebed_auth.policy import (
    Policy,
    Statement,
    parse_document,
    parse_statements,
    statements_to_json,
    to_json,
)
from lakebed_auth.rules import Decision

__all__ = [
    "AllOf",
    "AnyOf",
    "Compiled",
    "Condition",
    "Context",
    "Decision",
    "Need",
    "Needs",
    "Policy",
    "PolicyError",
    "Refusal",
    "Statement",
    "compile_policies",
    "parse_document",
    "parse_statements",
    "statements_to_json",
    "to_json",
]
