import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from google.api.annotations_pb2 import http as http_rule
from google.api.http_pb2 import HttpRule
from google.protobuf import descriptor_pb2, descriptor_pool

from parleyd.rpc.server import SERVICES
from parleyd.rpc.web.bindings import Binding, Template, bindings_of
from parleyd.rpc.web.json_names import dotted_name
from tests.rpc.web.http import body

PROTOS = Path(__file__).parents[3] / "protos" / "parley" / "v1"
ID = "7e57ab1e-0000-4000-8000-000000000000"
BINDINGS = list(bindings_of(SERVICES))


def test_every_annotation_of_the_protos_is_a_binding() -> None:
    annotated = [
        (verb.upper(), path)
        for file in PROTOS.glob("*.proto")
        for verb, path in re.findall(r'\b(get|put|post|delete|patch): "(.*?)"', file.read_text())
    ]
    bound = [(binding.verb, binding.template.text) for binding in BINDINGS]
    assert sorted(bound) == sorted(annotated)
    assert len(bound) >= 18


def test_no_two_bindings_take_the_same_request() -> None:
    for binding in BINDINGS:
        path = binding.template.text.replace("{", "").replace("}", "")
        taken = [
            each
            for each in BINDINGS
            if each.verb == binding.verb and each.template.values(path) is not None
        ]
        assert taken == [binding]


@pytest.mark.parametrize("binding", BINDINGS, ids=lambda each: f"{each.verb} {each.template.text}")
async def test_every_binding_reaches_its_method(http: httpx2.AsyncClient, binding: Binding) -> None:
    path = re.sub(r"\{.*?\}", ID, binding.template.text)
    content: dict[str, Any] = {"json": {}} if binding.body else {}
    response = await http.request(binding.verb, path, **content)
    if response.status_code == 204:
        return
    if not response.headers["content-type"].startswith("application/json"):
        assert response.headers["content-type"].startswith("text/event-stream")
        return
    told = body(response)
    # The tests' server serves three of our services; of the others it says that it has them not.
    refused = {"INVALID_ARGUMENT", "UNIMPLEMENTED", "INTERNAL"}
    assert response.status_code == 200 or told["status"] in refused
    assert "nothing at this path" not in str(told)
    assert response.status_code != 405


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("/v1/a/x/b/y:watch", ("x", "y")),
        ("/v1/a/x%2Fy/b/%3A%20:watch", ("x/y", ": ")),
        ("/v1/a/x/b/y", None),
        ("/v1/a/x/b/y:watch:watch", None),
        ("/v1/a/x/b/y:watchmore", None),
        ("/v1/a/x/b/:watch", None),
        ("/v1/a//b/y:watch", None),
        ("/v1/a/x/b/y:watch/", None),
        ("/v1/a/x/y/b/y:watch", None),
        ("/v1/a/%ff/b/y:watch", ("\ufffd", "y")),
    ],
)
def test_a_path_is_taken_by_the_template_that_it_fits(
    path: str, values: tuple[str, ...] | None
) -> None:
    assert Template("/v1/a/{one}/b/{two.three}:watch").values(path) == values
    if values is None or path.endswith("watch"):
        plain = Template("/v1/a/{one}/b/{two.three}").values(path)
        assert (plain is None) == path.endswith((":watch", "more", "/"))


@pytest.mark.parametrize("path", ["/v1/{name=a/*}", "/v1/**", "/v1/{a"])
def test_a_path_that_can_not_be_served_stops_the_start(path: str) -> None:
    with pytest.raises(ValueError, match="has more than"):
        Template(path)


def test_a_variable_may_name_a_field_of_a_field() -> None:
    (update,) = (each for each in BINDINGS if each.method.name == "UpdateConversation")
    assert [dotted_name(path) for path in update.variables] == ["conversation.conversationId"]


def _service(name: str, **rule: Any) -> str:
    """Adds a service with one method to the pool, and returns its name."""
    file = descriptor_pb2.FileDescriptorProto(
        name=f"tests/{name}.proto",
        package=f"tests.{name}",
        syntax="proto3",
        dependency=["google/api/annotations.proto", "parley/v1/turns.proto"],
    )
    method = file.service.add(name="Service").method.add(
        name="Do",
        input_type=".parley.v1.GetTurnRequest",
        output_type=".parley.v1.GetTurnResponse",
        client_streaming=rule.pop("stream", "") == "yes",
    )
    extension = method.options.Extensions[http_rule]
    extension.SetInParent()
    extension.MergeFrom(HttpRule(**rule))
    descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
    return f"tests.{name}.Service"


def test_a_new_method_is_served_by_its_annotation_alone() -> None:
    (binding,) = bindings_of([_service("fresh", post="/v1/things/{turn_id}:do", body="*")])
    assert (binding.verb, binding.template.values("/v1/things/7:do")) == ("POST", ("7",))
    assert binding.method_path == "/tests.fresh.Service/Do"


@pytest.mark.parametrize(
    ("name", "rule", "why"),
    [
        ("nowhere", {}, "without a path"),
        ("no_field", {"get": "/v1/{nothing}"}, "no single value"),
        ("no_body", {"post": "/v1/x", "body": "nothing"}, "to be a body"),
        ("flat_body", {"post": "/v1/x", "body": "turn_id"}, "to be a body"),
        ("streamed", {"post": "/v1/x", "stream": "yes"}, "takes a stream"),
        ("inner", {"get": "/v1/x", "response_body": "turn"}, "response_body"),
        ("own_verb", {"custom": {"kind": "HEAD", "path": "/v1/x"}}, "verb of its own"),
    ],
)
def test_an_annotation_that_can_not_be_served_stops_the_start(
    name: str, rule: dict[str, Any], why: str
) -> None:
    service = _service(name, **rule)
    with pytest.raises(ValueError, match=why):
        list(bindings_of([service]))
