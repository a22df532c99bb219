"""The paths of uploads and downloads, whose bytes are no JSON (spec turns 11.2)."""

from pydantic import JsonValue

UPLOAD: dict[str, JsonValue] = {
    "tags": ["FileService"],
    "operationId": "UploadFile",
    "summary": "Takes a file",
    "description": "Takes a file as a form, whose parts may come in any order. Nothing is kept "
    "unless all of it is well-formed and true.",
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "requestId": {
                            "type": "string",
                            "format": "uuid",
                            "description": "Lets a repeat within 24 hours get the same file.",
                        },
                        "sha256": {
                            "type": "string",
                            "pattern": "^([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$",
                            "description": "Is the SHA-256 of the file, in hexadecimal digits or "
                            "as base64. A file with another one is refused.",
                        },
                        "file": {
                            "type": "string",
                            "contentMediaType": "application/octet-stream",
                            "description": "The file, with its name and its type.",
                        },
                    },
                    "required": ["file"],
                }
            }
        },
    },
}

DOWNLOAD: dict[str, JsonValue] = {
    "tags": ["FileService"],
    "operationId": "DownloadFile",
    "summary": "Reads the bytes of a file",
    "description": "Reads the bytes of a file, as an attachment under its name.",
    "parameters": [
        {
            "name": "file_id",
            "in": "path",
            "required": True,
            "description": "Names the file.",
            "schema": {"type": "string"},
        }
    ],
}
