"""Contracts: requirements for the files of a path, declared in an action file, and checked by their footers."""

from lakebed_hooks.contracts.model import parse_contract
from lakebed_hooks.contracts.vocabulary import Contract

__all__ = ["Contract", "parse_contract"]
