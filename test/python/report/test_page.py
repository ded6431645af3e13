"""The report's page in headless Chromium: it draws without errors, and everything on it can be used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import vgfc
from benchmarks import browser, models
from benchmarks.browser import Opened
from vgfc.program import Program
from vgfc.report import LayerError
from vgfc.report.html import common_folder
from vgfc.report.html import page as page_of
from vgfc.runtime.vulkan import VulkanProgram

if browser.find_chromium() is None:
    pytest.skip("no Chromium here (apt-get install chromium)", allow_module_level=True)


@pytest.fixture(scope="module")
def program() -> Program:
    model, inputs, _ = models.get("convnext")
    return vgfc.compile(model, inputs)


@pytest.fixture(scope="module")
def path(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(program.report().to_html("ConvNeXt <b>&amp;</b>"), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    with browser.browser() as found:
        yield found


@pytest.fixture
def opened(running: Any, path: Path) -> Iterator[Opened]:
    """The page; it has to come through the test without a message, an error or a request."""
    found = browser.opened(running, path)
    yield found
    assert found.problems == []
    found.page.close()


def test_it_opens_in_time_with_its_title_as_text(opened: Opened) -> None:
    assert opened.seconds < 2
    assert opened.page.locator("h1").inner_text() == "ConvNeXt <b>&amp;</b>"


def test_figures_are_the_reports_and_the_runtimes(opened: Opened, program: Program) -> None:
    report = json.loads(program.report().to_json())
    figures = opened.figures()
    for name in ("operator_count", "constant_bytes", "vgf_bytes", "input_bytes", "output_bytes"):
        assert figures[name] == report[name], name
    assert figures["segments"] == len(report["segments"])
    assert figures["session_bytes"] == VulkanProgram(program.vgf).session_bytes


def test_passes_show_what_they_changed_and_the_others_on_request(opened: Opened, program: Program) -> None:
    rows = opened.page.locator("#passes-table tbody tr")
    assert rows.count() == len(program.report().steps)
    changed = opened.page.locator("#passes-table tbody tr:visible").count()
    assert 0 < changed < rows.count()
    opened.page.locator("#only-changes").uncheck()
    assert opened.page.locator("#passes-table tbody tr:visible").count() == rows.count()
    line = opened.page.locator("#passes-table tr", has_text="vgf-convert-torch-convolutions").first
    assert "−6 torch.aten.conv2d" in line.inner_text()


def test_graph_is_searched_and_its_operators_tell_where_they_come_from(opened: Opened, program: Program) -> None:
    page = opened.page
    (segment,) = program.report().graph.segments
    assert page.locator("#graph-picture .node").count() == len(segment.nodes)
    assert page.locator("#graph-picture .edge").count() == len(segment.edges)
    page.locator("#graph-search").fill("depthwise")
    assert page.locator("#graph-count").inner_text() == "4 found"
    assert page.locator("#graph-picture .node.found").count() == 4
    page.locator("#graph-search").press("Enter")
    assert page.locator("#graph-count").inner_text() == "1 of 4"
    details = page.locator("#details").inner_text()
    assert "depthwise_conv2d" in details and "s1.0.dw" in details and "models.py:" in details
    page.locator("#graph-search").press("Enter")
    assert "s1.1.dw" in page.locator("#details").inner_text()
    chosen = page.locator("#graph-picture .node.chosen").bounding_box()
    frame = page.locator("#graph-picture").bounding_box()
    assert (
        frame["x"] < chosen["x"] < frame["x"] + frame["width"]
        and frame["y"] < chosen["y"] < frame["y"] + frame["height"]
    )
    page.locator("#details a").first.click()
    assert page.locator("#chosen-name").inner_text() != "depthwise_conv2d"


def test_graph_is_zoomed_and_moved(opened: Opened) -> None:
    page = opened.page
    page.locator("#graph-picture").scroll_into_view_if_needed()

    def node() -> Any:
        return page.locator("#graph-picture .node").first.bounding_box()

    before = node()
    page.get_by_label("zoom in").click()
    assert node()["width"] == pytest.approx(1.4 * before["width"], rel=0.02)
    page.get_by_label("show the whole graph").click()
    assert node()["width"] < before["width"]
    frame = page.locator("#graph-picture").bounding_box()
    boxes = page.locator("#graph-picture .node").all()
    assert all(box.bounding_box()["y"] < frame["y"] + frame["height"] for box in boxes)
    small = node()
    page.mouse.move(frame["x"] + 20, frame["y"] + 20)
    page.mouse.wheel(0, -400)
    assert node()["width"] > small["width"]
    at = node()
    page.mouse.move(frame["x"] + 30, frame["y"] + 200)
    page.mouse.down()
    page.mouse.move(frame["x"] + 90, frame["y"] + 230)
    page.mouse.up()
    assert node()["x"] == pytest.approx(at["x"] + 60, abs=1) and node()["y"] == pytest.approx(at["y"] + 30, abs=1)


def test_memory_names_what_is_live_at_the_peak(opened: Opened, program: Program) -> None:
    page = opened.page
    (session,) = program.memory().sessions
    assert page.locator("#memory .block").count() == len(session.blocks)
    assert page.locator("#memory .peak").count() == 1
    rows = page.locator("#memory tbody tr")
    assert rows.count() == len(session.peak_blocks)
    assert rows.first.inner_text().startswith(f"{session.peak_blocks[0].size_bytes:,}")
    rows.first.click()
    assert page.locator("#chosen-name").inner_text() == session.peak_blocks[0].name
    assert page.locator("#memory .block.chosen").count() == 1


def test_tables_are_filtered(opened: Opened, program: Program) -> None:
    page = opened.page
    count = program.report().operators["depthwise_conv2d"]
    page.get_by_label("filter operators").fill("depthwise")
    assert page.locator("#operators-table tbody tr:visible").count() == count
    page.locator("#operators-table tbody tr:visible").first.click()
    assert page.locator("#chosen-name").inner_text() == "depthwise_conv2d"
    page.get_by_label("filter constants").fill("no such constant")
    assert page.locator("#constants-table tbody tr:visible").count() == 0


@pytest.mark.parametrize("link", ["Passes", "Graph", "Memory", "Constants", "Operators"])
def test_links_lead_to_their_sections(opened: Opened, link: str) -> None:
    opened.page.locator("nav a", has_text=link).click()
    top = opened.page.locator(f"section#{link.lower()}").bounding_box()["y"]
    assert -10 <= top <= 900


def test_a_phone_scrolls_in_one_direction_only(running: Any, path: Path) -> None:
    found = browser.opened(running, path, width=360, height=740)
    assert found.page.evaluate("document.documentElement.scrollWidth") == 360
    found.page.locator("#graph-search").fill("conv2d")
    found.page.locator("#graph-search").press("Enter")
    assert "conv2d" in found.page.locator("#chosen-name").inner_text()
    assert found.problems == []


def test_dark_and_light(running: Any, path: Path) -> None:
    def brightness(scheme: str) -> tuple[int, int]:
        found = browser.opened(running, path, scheme=scheme)
        script = "() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        paper, ink = (sum(int(part) for part in text[4:-1].split(",")) for text in found.page.evaluate(script))
        return paper, ink

    light_paper, light_ink = brightness("light")
    dark_paper, dark_ink = brightness("dark")
    assert light_paper - light_ink > 500
    assert dark_ink - dark_paper > 500


def test_segments_of_several_kinds_are_linked_and_the_host_explained(running: Any, tmp_path: Path) -> None:
    text = """
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = tosa.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %1 = tosa.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %2 = tosa.add %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      return %2 : tensor<4x8xf32>
    }
    """
    report = vgfc.compile_mlir(text, segment_of="exp:host").report()
    file = tmp_path / "report.html"
    file.write_text(report.to_html(), encoding="utf-8")
    found = browser.opened(running, file)
    assert found.page.locator("#graph-picture .frame").count() == len(report.segments) == 3
    assert found.page.locator("#graph-picture .edge.link").count() == 3
    assert found.page.locator("#graph-picture .node.host").count() == 1
    assert "segment-of 'exp:host' says so" in found.page.locator("#host-table").inner_text()
    assert found.problems == []


def test_errors_of_layers_are_a_table_with_the_worst_first(running: Any, program: Program, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    errors = [LayerError("s1.0.dw", 45.25, 0.9999, 0.01), LayerError("s2.1.p2", 20.5, 0.98, 0.3)]
    file.write_text(program.report().to_html("Errors", errors), encoding="utf-8")
    found = browser.opened(running, file)
    rows = found.page.locator("#accuracy-table tbody tr")
    assert [text.split() for text in rows.all_inner_texts()] == [
        ["s2.1.p2", "20.5", "0.980000", "0.300"],
        ["s1.0.dw", "45.3", "0.999900", "0.0100"],
    ]
    assert found.problems == []


def test_memory_page_alone(running: Any, program: Program, tmp_path: Path) -> None:
    file = tmp_path / "memory.html"
    file.write_text(program.memory().to_html("Memory"), encoding="utf-8")
    found = browser.opened(running, file)
    assert found.page.locator("section").count() == 1
    found.page.locator("#memory tbody tr").first.click()
    assert found.problems == []


def test_memory_page_of_several_segments(running: Any, tmp_path: Path) -> None:
    operators = [
        f'%{number + 1} = tosa.exp %{number} {{vgf.segment_name = "{number}"}} : (tensor<40xf32>) -> tensor<40xf32>'
        for number in range(5)
    ]
    body = "\n".join(operators)
    text = f"func.func @main(%0: tensor<40xf32>) -> tensor<40xf32> {{\n{body}\nreturn %5 : tensor<40xf32>\n}}"
    file = tmp_path / "memory.html"
    file.write_text(vgfc.compile_mlir(text).memory().to_html("Memory"), encoding="utf-8")
    found = browser.opened(running, file)
    assert found.page.locator("#between-picture rect").count() == 4
    rows = [row.split() for row in found.page.locator("#between-table tbody tr").all_inner_texts()]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("160", str(number % 2), f"segment_{number + 1}") for number in range(4)
    ]
    assert found.problems == []


def test_text_that_looks_like_markup_stays_text(running: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    title = "</script><script>document.title='taken'</script><!-- <script>"
    file.write_text(page_of({"title": title}), encoding="utf-8")
    found = browser.opened(running, file)
    assert found.page.title() == title
    assert found.problems == []


def test_source_lines_are_relative_to_the_folder_they_share() -> None:
    assert common_folder(["/home/me/net/a.py:3", "/home/me/net/parts/b.py:4", "-:5"]) == "/home/me/net/"
    assert common_folder(["/home/me/net.py:3", "/srv/other.py:4"]) == ""
    assert common_folder(["-:1"]) == ""
    text = page_of({"nodes": [{"source": "/home/me/a.py:3", "name": "/home/me/"}, {"source": None}]})
    assert '"source":"a.py:3","name":"/home/me/"' in text and '"folder":"/home/me/"' in text


def test_in_a_notebook_it_is_a_frame(running: Any, program: Program, tmp_path: Path) -> None:
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><body>{program._repr_html_()}</body>", encoding="utf-8")
    found = browser.opened(running, file)
    frame = found.page.frame_locator("iframe")
    assert frame.locator("#graph-picture .node").count() > 0
    assert found.problems == []
