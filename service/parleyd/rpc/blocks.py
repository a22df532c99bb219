"""Block documents on the wire (spec blocks 5, 11).

What goes out is meant to be valid. Of what is not, as in a document that is still being written,
the wire carries what it has a place for: a block of no known type has its `oneof` unset, and a
value of the wrong type is left out. Nothing here raises.
"""

from typing import Final, assert_never

from pydantic import JsonValue

from parley.v1 import blocks_pb2 as pb
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.json import (
    JsonObject,
    flag_at,
    number_at,
    object_at,
    objects_at,
    string_at,
)
from parleyd.contract.text import without_surrogates
from parleyd.rpc.block_datasets import datasets_from_proto, datasets_to_proto
from parleyd.rpc.block_elements import elements_from_proto, elements_to_proto
from parleyd.rpc.block_fields import (
    ITEMS_READ,
    Words,
    count_at,
    exact_number,
    exact_text,
    fields_from_proto,
    text_at,
    texts_at,
)
from parleyd.rpc.values import items_from_proto

_SIZES: Final = Words(pb.HeadingBlock.Size)
_TRENDS: Final = Words(pb.MetricBlock.Trend)
_BADGE_STATUSES: Final = Words(pb.BadgeBlock.Status)
_CHART_KINDS: Final = Words(pb.ChartBlock.Kind)
_CALLOUT_STATUSES: Final = Words(pb.CalloutBlock.Status)
_HEIGHTS: Final = Words(pb.BlockHeight)


def document_to_proto(document: JsonObject) -> pb.BlockDocument:
    """Returns a document. A valid one comes back the same from `document_from_proto`.

    The same, not written the same: `datasets` without any and `source: inline` are left out, a
    whole `v` or `limit` is an integer, and an unpaired surrogate is U+FFFD.
    """
    return pb.BlockDocument(
        v=count_at(document, "v") or 0,
        datasets=datasets_to_proto(object_at(document, "datasets")),
        blocks=_blocks_to_proto(document, "blocks"),
    )


def document_from_proto(document: pb.BlockDocument) -> dict[str, JsonValue]:
    """Returns a document as it was sent, its keys in order; whether it is valid is not asked.

    What is unset is no key, but for lists that have to be there.
    """
    content: dict[str, JsonValue] = fields_from_proto(document)
    if document.datasets:
        content["datasets"] = datasets_from_proto(document.datasets)
    content["blocks"] = items_from_proto(document.blocks, _block_from_proto, ITEMS_READ)
    return content


def issue_to_proto(issue: BlockIssue) -> pb.BlockIssue:
    """Returns an error or a warning about a document."""
    return pb.BlockIssue(
        path=without_surrogates(issue.path),
        code=issue.code.value,
        message=without_surrogates(issue.message),
        fix=without_surrogates(issue.fix),
    )


def _blocks_to_proto(holder: JsonObject, key: str) -> list[pb.Block]:
    return [_block_to_proto(block) for block in objects_at(holder, key)]


def _block_to_proto(block: JsonObject) -> pb.Block:
    message = pb.Block(id=text_at(block, "id"))
    match string_at(block, "type"):
        case "heading":
            size = _SIZES.at(block, "size")
            message.heading.CopyFrom(pb.HeadingBlock(text=text_at(block, "text"), size=size))
        case "text":
            message.text.CopyFrom(pb.TextBlock(markdown=text_at(block, "markdown")))
        case "metric":
            message.metric.CopyFrom(_metric_to_proto(block))
        case "badge":
            status = _BADGE_STATUSES.at(block, "status")
            message.badge.CopyFrom(pb.BadgeBlock(text=text_at(block, "text"), status=status))
        case "divider":
            message.divider.SetInParent()
        case "context":
            message.context.CopyFrom(pb.ContextBlock(text=text_at(block, "text")))
        case "chart":
            message.chart.CopyFrom(_chart_to_proto(block))
        case "table":
            message.table.CopyFrom(_table_to_proto(block))
        case "actions":
            message.actions.CopyFrom(pb.ActionsBlock(elements=elements_to_proto(block)))
        case "columns":
            children = _blocks_to_proto(block, "children")
            message.columns.CopyFrom(pb.ColumnsBlock(children=children))
        case "card":
            children, title = _blocks_to_proto(block, "children"), text_at(block, "title")
            message.card.CopyFrom(pb.CardBlock(children=children, title=title))
        case "html":
            message.html.CopyFrom(_html_to_proto(block))
        case "callout":
            status = _CALLOUT_STATUSES.at(block, "status")
            message.callout.CopyFrom(pb.CalloutBlock(text=text_at(block, "text"), status=status))
        case "image":
            alt, src = text_at(block, "alt"), text_at(block, "src")
            message.image.CopyFrom(pb.ImageBlock(alt=alt, src=src))
        case "details":
            title, text = text_at(block, "title"), text_at(block, "text")
            message.details.CopyFrom(pb.DetailsBlock(title=title, text=text))
        case _:
            pass
    return message


def _block_from_proto(block: pb.Block) -> JsonValue:
    own = fields_from_proto(block)
    type_ = block.WhichOneof("block")
    match type_:
        case "heading" | "text" | "metric" | "badge" | "divider" | "context":
            own |= fields_from_proto(getattr(block, type_))
        case "html" | "callout" | "image" | "details":
            own |= fields_from_proto(getattr(block, type_))
        case "chart":
            own |= _chart_from_proto(block.chart)
        case "table":
            own |= fields_from_proto(block.table)
            if block.table.columns:
                own["columns"] = [*block.table.columns]
        case "actions":
            own["elements"] = elements_from_proto(block.actions)
        case "columns":
            own |= _children_from_proto(block.columns)
        case "card":
            own |= _children_from_proto(block.card)
        case None:
            return own
        case _:
            assert_never(type_)
    return {"type": type_, **own}


def _children_from_proto(block: pb.ColumnsBlock | pb.CardBlock) -> dict[str, JsonValue]:
    children = items_from_proto(block.children, _block_from_proto, ITEMS_READ)
    return {**fields_from_proto(block), "children": children}


def _metric_to_proto(block: JsonObject) -> pb.MetricBlock:
    return pb.MetricBlock(
        label=text_at(block, "label"),
        value=text_at(block, "value"),
        delta=text_at(block, "delta"),
        helper=text_at(block, "helper"),
        trend=_TRENDS.at(block, "trend"),
    )


def _table_to_proto(block: JsonObject) -> pb.TableBlock:
    return pb.TableBlock(
        data=text_at(block, "data"),
        columns=texts_at(block, "columns"),
        title=text_at(block, "title"),
    )


def _html_to_proto(block: JsonObject) -> pb.HtmlBlock:
    return pb.HtmlBlock(
        html=text_at(block, "html"),
        title=text_at(block, "title"),
        height=_HEIGHTS.at(block, "height"),
    )


def _chart_to_proto(block: JsonObject) -> pb.ChartBlock:
    """Returns a chart; one with points and a dataset, which no valid one has, keeps its points."""
    message = pb.ChartBlock(
        kind=_CHART_KINDS.at(block, "kind"),
        title=text_at(block, "title"),
        legend=flag_at(block, "legend"),
        empty_text=text_at(block, "emptyText"),
        height=_HEIGHTS.at(block, "height"),
    )
    if isinstance(block.get("points"), list):
        points = map(_point_to_proto, objects_at(block, "points"))
        message.points.CopyFrom(pb.ChartPoints(points=points))
    elif not block.keys().isdisjoint(("data", "x", "y")):
        data, x, y = text_at(block, "data"), text_at(block, "x"), text_at(block, "y")
        message.binding.CopyFrom(pb.ChartBinding(data=data, x=x, y=y))
    return message


def _chart_from_proto(chart: pb.ChartBlock) -> dict[str, JsonValue]:
    own = fields_from_proto(chart)
    source = chart.WhichOneof("source")
    match source:
        case "binding":
            own |= fields_from_proto(chart.binding)
        case "points":
            own["points"] = items_from_proto(chart.points.points, _point_from_proto, ITEMS_READ)
        case None:
            pass
        case _:
            assert_never(source)
    return own


def _point_to_proto(point: JsonObject) -> pb.ChartPoint:
    value = number_at(point, "value")
    exact = "" if value is None else exact_text(value)
    return pb.ChartPoint(label=text_at(point, "label"), value=value, exact=exact)


def _point_from_proto(point: pb.ChartPoint) -> JsonValue:
    own: dict[str, JsonValue] = {"label": point.label} if point.label else {}
    if point.HasField("value"):
        own["value"] = exact_number(point.value, point.exact)
    return own
