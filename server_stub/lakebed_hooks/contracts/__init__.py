"""Contracts: what the files of a path must be like, declared in an action file, and checked by their footers."""

from lakebed_hooks.contracts.model import parse_contract
from lakebed_hooks.contracts.vocabulary import Contract

__all__ = ["Contract", "parse_contract"]
