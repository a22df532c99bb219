"""Sending files and getting them, without asyncio."""

from pathlib import Path

import grpc

from parley.errors import error_of
from parley.sync.client import Client
from parley.transfers import Download, declared, downloaded, measure, opened, upload_requests
from parley.v1 import files_pb2 as pb


def upload_file(
    client: Client,
    source: Path | bytes,
    *,
    filename: str = "",
    mime_type: str = "",
    request_id: str = "",
) -> pb.File:
    """Uploads a file, from disk or from memory, and returns what is known of it.

    Its arguments are those of `parley.upload_file`.

    Raises:
        ParleyError: The server refuses.
        OSError: The path can't be read.
        ValueError: There is no name for the bytes, or no type known by the name.
    """
    header = declared(source, filename, mime_type, request_id)
    with opened(source) as content:
        measure(header, content)
        try:
            return client.files.UploadFile(upload_requests(header, content)).file
        except grpc.RpcError as failed:
            raise error_of(failed) from failed


def download_file(client: Client, file_id: str) -> Download:
    """Downloads a file into memory.

    Raises:
        ParleyError: The server refuses, or the connection breaks.
    """
    try:
        return downloaded(client.files.DownloadFile(pb.DownloadFileRequest(file_id=file_id)))
    except grpc.RpcError as failed:
        raise error_of(failed) from failed
