"""Viewers of maps and images: GeoJSON, and two versions of an image."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from urllib.parse import quote

import lakebed
from playwright.sync_api import Browser, Page, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer

PLACES = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "id": 7,
            "properties": {"name": "<b>field</b>", "crop": "barley"},
            "geometry": {
                "type": "Polygon",
                "coordinates": [
                    [[8.0, 50.0], [9.0, 50.0], [9.0, 51.0], [8.0, 51.0], [8.0, 50.0]],
                    [[8.4, 50.4], [8.6, 50.4], [8.6, 50.6], [8.4, 50.4]],
                ],
            },
        },
        {
            "type": "Feature",
            "properties": {"name": "road"},
            "geometry": {"type": "LineString", "coordinates": [[7.5, 50.2], [9.5, 50.9]]},
        },
        {"type": "Feature", "properties": {"name": "well"}, "geometry": {"type": "Point", "coordinates": [9.3, 50.2]}},
        {"type": "Feature", "properties": None, "geometry": None},
    ],
}


def open_object(page: Page, repo: lakebed.Repository, path: str) -> None:
    page.goto(f"/repositories/{repo.id}/object?path={quote(path, safe='')}")


def test_geojson_is_drawn_and_moved_by_keys(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    repo.branch("main").put("fields.geojson", json.dumps(PLACES).encode())
    with signed_in(chromium, server) as page:
        open_object(page, repo, "fields.geojson")
        expect(page.get_by_text("4 features")).to_be_visible()
        expect(page.get_by_text("Longitude 7.5 to 9.5, latitude 50 to 51")).to_be_visible()
        drawing = page.get_by_role("img", name="Drawing of 4 features")
        expect(drawing.locator("path.area")).to_have_count(1)
        expect(page.get_by_role("row").filter(has_text="barley")).to_contain_text("<b>field</b>")
        check(page, "geojson")

        whole = drawing.get_attribute("viewBox")
        page.get_by_role("group", name="Map.").press("+")
        closer = drawing.get_attribute("viewBox")
        page.get_by_role("group", name="Map.").press("ArrowRight")
        moved = drawing.get_attribute("viewBox")
        page.get_by_role("button", name="Show everything").click()
        assert len({whole, closer, moved}) == 3
        assert drawing.get_attribute("viewBox") == whole
        page.get_by_role("button", name="Zoom in").click()
        assert drawing.get_attribute("viewBox") == closer
        page.get_by_role("button", name="Zoom out").click()
        assert drawing.get_attribute("viewBox") == whole
        page.get_by_role("button", name="Show feature 3 on the map").click()
        expect(drawing.locator("path.chosen.point")).to_have_attribute("d", "M900.00 628.85h0")
        page.get_by_role("button", name="Text").click()
        expect(page.get_by_text("FeatureCollection")).to_be_visible()


OTHER_JSON = {
    "cut-off": (b'{"type": "FeatureCollection", "features": [', "This cannot be drawn"),
    "no-geojson": (b"[1, 2]", "has no GeoJSON feature with a position"),
    "no-degrees": (b'{"type": "Point", "coordinates": [500000, 5500000]}', "these are not degrees"),
    "no-coordinates": (b'{"type": "Polygon", "coordinates": "none"}', "has no GeoJSON feature with a position"),
    "deep": (
        b'{"type": "GeometryCollection", "geometries": [' * 2000 + b"]}" * 2000,
        "has no GeoJSON feature",
    ),
}


def test_other_json_is_reported_in_place(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    for name, (content, _) in OTHER_JSON.items():
        repo.branch("main").put(f"{name}.geojson", content)
    with signed_in(chromium, server) as page:
        for name, (content, shown) in OTHER_JSON.items():
            open_object(page, repo, f"{name}.geojson")
            expect(page.get_by_role("main"), name).to_contain_text(shown)
            page.get_by_role("button", name="Text").click()
            expect(page.get_by_role("main").locator("code"), name).to_contain_text(content.decode()[:20])


def test_a_large_map_is_drawn_in_part(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    points = [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [at % 360 - 180, at % 170 - 85]}}
        for at in range(12_000)
    ]
    repo.branch("main").put("many.geojson", json.dumps({"type": "FeatureCollection", "features": points}).encode())
    with signed_in(chromium, server) as page:
        open_object(page, repo, "many.geojson")
        expect(page.get_by_text("only its first features are drawn")).to_be_visible()
        expect(page.get_by_text("10,000 features")).to_be_visible()


def png(colors: Sequence[tuple[int, int, int]], side: int = 64) -> bytes:
    """An image of vertical stripes."""
    row = b"\0" + b"".join(bytes(colors[at * len(colors) // side]) for at in range(side))
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(row * side)),
        (b"IEND", b""),
    ]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + body


def test_two_versions_of_an_image_are_compared(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("flag.png", png([(200, 30, 30), (240, 240, 240)]))
    main.commit("first flag")
    dev = repo.branch("dev").create(source="main")
    dev.put("flag.png", png([(200, 30, 30), (30, 60, 200)]))
    dev.put("new.png", png([(0, 120, 60)]))
    dev.commit("other flag")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/compare?base=main&compare=dev")
        page.get_by_role("button", name="Show the difference: new.png").click()
        expect(page.get_by_role("img", name="After: new.png")).to_be_visible()
        expect(page.get_by_role("group", name="How to compare the images")).to_have_count(0)
        page.get_by_role("button", name="Show the difference: flag.png").click()
        expect(page.get_by_role("img", name="Before: flag.png")).to_be_visible()
        check(page, "image-sides")
        page.get_by_role("button", name="Slider").press("Enter")
        slider = page.get_by_role("slider", name="The place between the two images")
        slider.press("End")
        expect(slider).to_have_attribute("aria-valuetext", "100 % before, 0 % after")
        after = page.get_by_role("img", name="After: flag.png").locator("..")
        expect(after).to_have_css("clip-path", "inset(0px 0px 0px 100%)")
        slider.press("Home")
        slider.press("PageUp")
        expect(after).to_have_css("clip-path", "inset(0px 0px 0px 10%)")
        check(page, "image-slider")
        page.get_by_role("button", name="Difference", exact=True).click()
        expect(after).to_have_css("mix-blend-mode", "difference")
        check(page, "image-difference")
