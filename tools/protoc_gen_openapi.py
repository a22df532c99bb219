"""A buf plugin that writes the OpenAPI document of the JSON surface.

What it says comes from the protos: the paths from their HTTP annotations, the texts from their
comments. The paths that no annotation can say, of uploads and downloads, stand in
`openapi_files.py`.
"""

import json
import sys

from google.api import annotations_pb2  # pyright: ignore[reportMissingTypeStubs] - it has none
from google.protobuf.compiler import plugin_pb2
from openapi_comments import Comments
from openapi_operations import document_of

NAME = "parley.v1.json"
assert annotations_pb2.http, "its import lets the annotations be read"


def generate(request: plugin_pb2.CodeGeneratorRequest) -> plugin_pb2.CodeGeneratorResponse:
    """Returns one file, the document of all services of the files to generate."""
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    asked = set(request.file_to_generate)
    document = document_of(
        [file for file in request.proto_file if file.name in asked],
        list(request.proto_file),
        Comments(request.proto_file),
    )
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    response.file.add(name=NAME, content=text)
    return response


if __name__ == "__main__":
    sent = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(generate(sent).SerializeToString())
