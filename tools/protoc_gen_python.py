"""A buf plugin that writes the Python stubs of one package folder, with their types.

grpcio-tools has its generators compiled in and ships no plugin programs, so buf can't call them by
name. The paths are written without the package's folder, so that `out` can name that folder and
`clean` can empty it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorSet

GENERATORS = ("python", "grpc_python", "mypy", "mypy_grpc")
INIT = '"""The generated stubs of parley.v1."""\n'


def generate(request: plugin_pb2.CodeGeneratorRequest) -> plugin_pb2.CodeGeneratorResponse:
    """Returns the stubs of the files to generate, which must share one folder."""
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    folders = {Path(name).parent for name in request.file_to_generate}
    if len(folders) != 1:
        response.error = (
            f"The files of one run must share one folder, got {sorted(map(str, folders))}."
        )
        return response
    with tempfile.TemporaryDirectory() as temp:
        descriptors = Path(temp) / "in.binpb"
        descriptors.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        out = Path(temp) / "out"
        out.mkdir()
        run = subprocess.run(
            [
                sys.executable,
                "-m",
                "grpc_tools.protoc",
                f"--descriptor_set_in={descriptors}",
                *(f"--{generator}_out={out}" for generator in GENERATORS),
                *request.file_to_generate,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            response.error = run.stderr or run.stdout
            return response
        package = out / folders.pop()
        response.file.add(name="__init__.py", content=INIT)
        without_service = {
            f"{Path(proto.name).stem}_pb2_grpc" for proto in request.proto_file if not proto.service
        }
        for path in sorted(package.iterdir()):
            if path.stem not in without_service:
                response.file.add(name=path.name, content=path.read_text())
    return response


if __name__ == "__main__":
    asked = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(generate(asked).SerializeToString())
