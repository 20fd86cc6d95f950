"""A person without a mouse: moves with Tab, and sees where the focus is.

tab_to(page, "button", "Upload")
page.keyboard.press("Enter")
"""

from __future__ import annotations

from typing import Any, Literal

from playwright.sync_api import Locator, Page, expect

MOST_KEYS = 150
"""Presses of Tab from one control to any other."""

_FOCUS = """() => {
  const element = document.activeElement
  if (!element || element === document.body) return null
  const style = getComputedStyle(element)
  const box = element.getBoundingClientRect()
  const isSeen = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth
  return {
    name: element.outerHTML.slice(0, 160),
    isMarked: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    isSeen: isSeen && style.visibility === 'visible',
  }
}"""


def tab_to(page: Page, role: Literal["button", "link", "textbox", "checkbox", "radio"], name: str) -> Locator:
    """Press Tab until the control has the focus. Fails when one on the way has no focus ring, or is out of view."""
    wanted = page.get_by_role(role, name=name, exact=True)
    expect(wanted.first).to_be_visible()
    for _ in range(MOST_KEYS):
        page.keyboard.press("Tab")
        check_focus(page)
        if wanted.evaluate_all("(all) => all.includes(document.activeElement)"):
            return wanted
    raise AssertionError(f"no {role} {name!r} after {MOST_KEYS} presses of Tab")


def check_focus(page: Page) -> None:
    """The element with the focus, if there is one, is in view and has a ring around it."""
    focus: dict[str, Any] | None = page.evaluate(_FOCUS)
    assert focus is None or (focus["isMarked"] and focus["isSeen"]), f"the focus cannot be seen: {focus}"
