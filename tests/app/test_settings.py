"""The settings: where they come from, and what stops the start."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from parleyd.app.faults import ConfigurationError
from parleyd.app.settings import Settings, default_data_dir
from parleyd.app.settings_sources import load_settings
from parleyd.tools import McpServer


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith("PARLEY_") or name == "GEMINI_API_KEY":
            monkeypatch.delenv(name)


STOCK_JSON = '{"command": ["stock", "-v"], "needs_approval": ["order"]}'
STOCK = McpServer.model_validate_json(STOCK_JSON)


@dataclass(frozen=True)
class Case:
    """What is set, and what must be read or said."""

    name: str
    variables: dict[str, str] = field(default_factory=dict[str, str])
    toml: str | None = None
    development: bool = False
    port: int | None = None
    expected: dict[str, object] = field(default_factory=dict[str, object])
    sentence: str = ""


def set_up(case: Case, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    for name, value in case.variables.items():
        monkeypatch.setenv(name, value)
    if case.toml is not None:
        path = folder / "parley.toml"
        path.write_text(case.toml)
        monkeypatch.setenv("PARLEY_CONFIG", str(path))


READ = [
    Case(
        "defaults",
        expected={
            "environment": "production",
            "host": "127.0.0.1",
            "port": 50051,
            "jwt_audience": "parley",
            "jwt_service_audience": "parley-internal",
            "jwt_algorithms": ("RS256", "ES256", "EdDSA"),
            "asks": ("choice", "confirm", "markdown", "form", "files"),
            "max_steps": 5,
            "database_url": None,
            "gemini_api_key": None,
        },
    ),
    Case(
        "the environment",
        {"PARLEY_PORT": "7", "PARLEY_JWT_ISSUER": "https://issuer", "PARLEY_POOL_SIZE": "3"},
        expected={"port": 7, "jwt_issuer": "https://issuer", "pool_size": 3},
    ),
    Case(
        "a file",
        toml='port = 7\nasks = ["confirm"]\nsystem_prompt = "Be brief."',
        expected={"port": 7, "asks": ("confirm",), "system_prompt": "Be brief."},
    ),
    Case(
        "the environment wins over a file",
        {"PARLEY_PORT": "8"},
        toml="port = 7\npool_size = 4",
        expected={"port": 8, "pool_size": 4},
    ),
    Case(
        "the command line wins over both",
        {"PARLEY_PORT": "8", "PARLEY_ENVIRONMENT": "production"},
        toml="port = 7",
        development=True,
        port=0,
        expected={"port": 0, "environment": "development"},
    ),
    Case(
        "an empty variable is unset",
        {"PARLEY_PORT": "", "PARLEY_DATABASE_URL": "", "PARLEY_CONFIG": "", "GEMINI_API_KEY": ""},
        expected={"port": 50051, "database_url": None, "gemini_api_key": None},
    ),
    Case(
        "a list of kinds, spaced and doubled",
        {"PARLEY_ASKS": " files, choice,form,files"},
        expected={"asks": ("files", "choice", "form")},
    ),
    Case("no kinds in a variable", {"PARLEY_ASKS": ""}, expected={"asks": ()}),
    Case("no kinds in a file", toml="asks = []", expected={"asks": ()}),
    Case(
        "no kinds in a variable over a file",
        {"PARLEY_ASKS": ""},
        toml='asks = ["choice"]',
        expected={"asks": ()},
    ),
    Case(
        "algorithms",
        {"PARLEY_JWT_ALGORITHMS": "ES256,RS512"},
        expected={"jwt_algorithms": ("ES256", "RS512")},
    ),
    Case(
        "lower-case names",
        {"parley_port": "9"},
        expected={"port": 9},
    ),
    Case(
        "loopback by name in development",
        {"PARLEY_HOST": "localhost"},
        development=True,
        expected={"host": "localhost"},
    ),
    Case(
        "loopback of version 6 in development",
        {"PARLEY_HOST": "::1"},
        development=True,
        expected={"host": "::1"},
    ),
    Case(
        "every address in production",
        {"PARLEY_HOST": "0.0.0.0"},
        expected={"host": "0.0.0.0"},
    ),
    Case(
        "the demo agent although there is a key",
        {"PARLEY_MODEL": "demo", "GEMINI_API_KEY": "k"},
        expected={"model": "demo"},
    ),
    Case(
        "a table in a variable",
        {"PARLEY_APPROVAL_WORDINGS": ' {"refund": "shop.words:refund"}'},
        expected={"approval_wordings": {"refund": "shop.words:refund"}},
    ),
    Case(
        "a table in a file",
        toml='[approval_wordings]\nrefund = "shop.words:refund"\n"a.b" = "shop.words:b"',
        expected={"approval_wordings": {"refund": "shop.words:refund", "a.b": "shop.words:b"}},
    ),
    Case(
        "MCP servers in a file",
        toml='[mcp_servers.stock]\ncommand = ["stock", "-v"]\nneeds_approval = ["order"]',
        expected={"mcp_servers": {"stock": STOCK}},
    ),
    Case(
        "MCP servers in a variable, over a file",
        {"PARLEY_MCP_SERVERS": f'{{"stock": {STOCK_JSON}}}'},
        toml='[mcp_servers.other]\nurl = "https://other/mcp"',
        expected={"mcp_servers": {"stock": STOCK}},
    ),
    Case("an empty table", {"PARLEY_APPROVAL_WORDINGS": ""}, expected={"approval_wordings": {}}),
    Case(
        "files",
        {"PARLEY_DATA_DIR": "/srv/parley"},
        expected={
            "file_place": "/srv/parley/files",
            "file_bytes": 10 * 1024 * 1024,
            "uploads": True,
        },
    ),
    Case(
        "files in a bucket",
        {"PARLEY_FILE_STORE": "s3://files/parley", "PARLEY_FILE_BYTES": "1"},
        expected={"file_place": "s3://files/parley", "file_bytes": 1},
    ),
    Case(
        "no files",
        {"PARLEY_FILE_STORE": "none", "PARLEY_UPLOADS": "false"},
        expected={"file_place": None, "uploads": False},
    ),
    Case(
        "replies are texts",
        expected={
            "blocks": False,
            "blocks_html": False,
            "blocks_image_hosts": (),
            "blocks_repair": False,
        },
    ),
    Case(
        "replies are documents",
        {
            "PARLEY_BLOCKS": "true",
            "PARLEY_BLOCKS_HTML": "true",
            "PARLEY_BLOCKS_IMAGE_HOSTS": "img.example, cdn.example",
            "PARLEY_BLOCKS_REPAIR": "true",
        },
        expected={
            "blocks": True,
            "blocks_html": True,
            "blocks_image_hosts": ("img.example", "cdn.example"),
            "blocks_repair": True,
        },
    ),
    Case(
        "replies are documents, in a file",
        toml='blocks = true\nblocks_image_hosts = ["img.example"]',
        expected={"blocks": True, "blocks_image_hosts": ("img.example",)},
    ),
    Case(
        "the playground in development",
        {"PARLEY_WEB_PORT": "0"},
        development=True,
        expected={"playground": None, "shows_playground": True},
    ),
    Case("no playground elsewhere", expected={"shows_playground": False}),
    Case(
        "no playground where there is no HTTP",
        {"PARLEY_WEB": "false"},
        development=True,
        expected={"shows_playground": False},
    ),
    Case(
        "no playground in development",
        {"PARLEY_PLAYGROUND": "false"},
        development=True,
        expected={"shows_playground": False},
    ),
    Case(
        "the playground elsewhere",
        {"PARLEY_PLAYGROUND": "true"},
        expected={"shows_playground": True},
    ),
    Case(
        "models with a key",
        {"PARLEY_MODEL": "gemini-x", "PARLEY_TITLE_MODEL": "gemini-y", "GEMINI_API_KEY": "k"},
        expected={"model": "gemini-x", "title_model": "gemini-y"},
    ),
]


@pytest.mark.parametrize("case", READ, ids=lambda case: case.name)
def test_settings_are_read_from_their_places(
    case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    set_up(case, monkeypatch, tmp_path)
    settings = load_settings(development=case.development, port=case.port)
    assert {name: getattr(settings, name) for name in case.expected} == case.expected


def test_the_gemini_key_of_our_own_wins_over_the_shared_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "shared")
    shared = load_settings()
    monkeypatch.setenv("PARLEY_GEMINI_API_KEY", "own")
    own = load_settings()
    assert shared.gemini_api_key
    assert own.gemini_api_key
    assert shared.gemini_api_key.get_secret_value() == "shared"
    assert own.gemini_api_key.get_secret_value() == "own"


REFUSED = [
    Case(
        "a playground without HTTP",
        {"PARLEY_PLAYGROUND": "true", "PARLEY_WEB": "false"},
        sentence="PARLEY_PLAYGROUND serves a page over HTTP, and PARLEY_WEB is false: leave one ",
    ),
    Case(
        "MCP servers that are no JSON",
        {"PARLEY_MCP_SERVERS": "stock=https://s3cret"},
        sentence="PARLEY_MCP_SERVERS can't be used: it is no JSON: Expecting value: line 1",
    ),
    Case(
        "a name that no MCP server can have",
        toml='[mcp_servers."the stock"]\nurl = "https://stock/mcp"',
        sentence="'mcp_servers' in {file} can't be used: no server can be called 'the stock': use ",
    ),
    Case(
        "an MCP server reached in two ways",
        toml='[mcp_servers.stock]\nurl = "https://stock/mcp"\ncommand = ["stock"]',
        sentence="The MCP server 'stock' in {file} can't be used: it has a url and a command: ",
    ),
    Case(
        "an unknown key of an MCP server",
        {"PARLEY_MCP_SERVERS": '{"stock": {"urls": "https://stock/mcp"}}'},
        sentence="The MCP server 'stock' in PARLEY_MCP_SERVERS has no 'urls': write url, or leave ",
    ),
    Case(
        "an approval that there is not",
        toml='[mcp_servers.stock]\nurl = "https://stock/mcp"\napproval = "sometimes"',
        sentence="The MCP server 'stock' in {file} can't be used, at approval: 'sometimes' is not ",
    ),
    Case(
        "a header that is no text",
        toml='[mcp_servers.stock]\nurl = "https://stock/mcp"\nheaders = { A = 1 }',
        sentence="The MCP server 'stock' in {file} can't be used, at headers.A: input should be a ",
    ),
    Case(
        "an unknown variable",
        {"PARLEY_PROT": "1"},
        sentence="There is no setting PARLEY_PROT: write PARLEY_PORT, or leave it out.",
    ),
    Case(
        "a variable like nothing we know",
        {"PARLEY_XYZZY": "1"},
        sentence="There is no setting PARLEY_XYZZY: leave it out.",
    ),
    Case(
        "an unknown variable that is empty",
        {"PARLEY_XYZZY": ""},
        sentence="There is no setting PARLEY_XYZZY: leave it out.",
    ),
    Case(
        "an unknown key in the file",
        toml="databse_url = 'x'",
        sentence="There is no setting 'databse_url' in {file}: write database_url, or leave ",
    ),
    Case(
        "a table in the file",
        toml="[http]\nport = 1",
        sentence="There is no setting 'http' in {file}: leave it out.",
    ),
    Case("no TOML", toml="port 1", sentence="{file} is no TOML: "),
    Case(
        "no such file",
        {"PARLEY_CONFIG": "/nowhere/parley.toml"},
        sentence="PARLEY_CONFIG names /nowhere/parley.toml, which can't be read (",
    ),
    Case(
        "a value of another type",
        {"PARLEY_PORT": "many"},
        sentence="PARLEY_PORT can't be used: input should be a valid integer",
    ),
    Case(
        "a value of another type in the file",
        toml="port = 'many'",
        sentence="'port' in {file} can't be used: input should be a valid integer",
    ),
    Case(
        "a port out of range",
        {"PARLEY_PORT": "65536"},
        sentence="PARLEY_PORT can't be used: input should be less than or equal to 65535.",
    ),
    Case(
        "a database of another make",
        {"PARLEY_DATABASE_URL": "mysql://u:secret@h/d"},
        sentence="PARLEY_DATABASE_URL can't be used: it has to start with postgresql://.",
    ),
    Case(
        "an unknown environment",
        {"PARLEY_ENVIRONMENT": "staging"},
        sentence="PARLEY_ENVIRONMENT can't be used: "
        "'staging' is not 'development' or 'production'.",
    ),
    Case(
        "an unknown kind of ask",
        {"PARLEY_ASKS": "choice,riddle"},
        sentence="PARLEY_ASKS can't be used: 'riddle' is not 'choice', 'confirm', 'markdown', "
        "'form' or 'files'.",
    ),
    Case(
        "an unknown kind of ask in the file",
        toml='asks = ["form", "Files"]',
        sentence="'asks' in {file} can't be used: 'Files' is not 'choice', 'confirm', 'markdown', ",
    ),
    Case(
        "a kind of ask that is no word",
        toml="asks = [7]",
        sentence="'asks' in {file} can't be used: 7 is not 'choice', 'confirm', 'markdown', ",
    ),
    *(
        Case(
            f"the algorithm {name}",
            {"PARLEY_JWT_ALGORITHMS": f"RS256,{name}"},
            sentence=f"PARLEY_JWT_ALGORITHMS can't be used: '{name}' is none of ES256, ",
        )
        for name in ("HS256", "HS512", "none", "rs256")
    ),
    Case(
        "no algorithm",
        toml="jwt_algorithms = []",
        sentence="'jwt_algorithms' in {file} can't be used: ",
    ),
    Case(
        "a table that is no JSON",
        {"PARLEY_APPROVAL_WORDINGS": "refund=shop.words:refund"},
        sentence="PARLEY_APPROVAL_WORDINGS can't be used: it has to be JSON, like "
        '{{"tool": "module:function"}}.',
    ),
    Case(
        "a table that is a list",
        {"PARLEY_APPROVAL_WORDINGS": '["shop.words:refund"]'},
        sentence="PARLEY_APPROVAL_WORDINGS can't be used: input should be a valid dictionary.",
    ),
    Case(
        "a table of something else",
        toml="[approval_wordings]\nrefund = 7",
        sentence="'approval_wordings' in {file} can't be used: input should be a valid string.",
    ),
    Case(
        "files without bytes",
        {"PARLEY_FILE_BYTES": "0"},
        sentence="PARLEY_FILE_BYTES can't be used: input should be greater than or equal to 1.",
    ),
    Case(
        "files that are too large to be shown",
        {"PARLEY_FILE_BYTES": "104857601"},
        sentence="PARLEY_FILE_BYTES can't be used: input should be less than or equal to "
        "104857600.",
    ),
    Case(
        "uploads of files that are not kept",
        {"PARLEY_FILE_STORE": "none", "PARLEY_UPLOADS": "true"},
        sentence="PARLEY_FILE_STORE is 'none', which keeps no files, and PARLEY_UPLOADS lets "
        "people upload some: leave one out.",
    ),
    *(
        Case(
            f"{name} where replies are texts",
            {name: value},
            sentence=f"{name} is of no use without PARLEY_BLOCKS: leave it out, or set "
            "PARLEY_BLOCKS to true.",
        )
        for name, value in {
            "PARLEY_BLOCKS_HTML": "true",
            "PARLEY_BLOCKS_IMAGE_HOSTS": "img.example",
            "PARLEY_BLOCKS_REPAIR": "true",
        }.items()
    ),
    Case(
        "a key file that is not there",
        {"PARLEY_JWKS_FILE": "/nowhere/keys.json"},
        sentence="PARLEY_JWKS_FILE can't be used: path does not point to a file.",
    ),
    Case(
        "a certificate without its key",
        {"PARLEY_TLS_CERT": __file__},
        sentence="PARLEY_TLS_CERT is of no use without PARLEY_TLS_KEY: set both, or neither.",
    ),
    Case(
        "a key without its certificate",
        {"PARLEY_TLS_KEY": __file__},
        sentence="PARLEY_TLS_KEY is of no use without PARLEY_TLS_CERT: set both, or neither.",
    ),
    Case(
        "certificates of clients without TLS",
        {"PARLEY_TLS_CLIENT_CA": __file__},
        sentence="PARLEY_TLS_CLIENT_CA asks clients for certificates, which needs TLS: set ",
    ),
    Case(
        "a certificate that is no file",
        {"PARLEY_TLS_CERT": "/nowhere/cert.pem", "PARLEY_TLS_KEY": __file__},
        sentence="PARLEY_TLS_CERT can't be used: path does not point to a file.",
    ),
    Case(
        "a port of a web that is off",
        {"PARLEY_WEB": "false", "PARLEY_WEB_PORT": "7"},
        sentence="PARLEY_WEB_PORT is of no use while PARLEY_WEB is false: leave one of them out.",
    ),
    Case(
        "no port for the web",
        {"PARLEY_PORT": "65535"},
        sentence="There is no port after 65535 for the web: set PARLEY_WEB_PORT, or set ",
    ),
    Case(
        "two sources of keys",
        {"PARLEY_JWKS_URL": "https://issuer/keys", "PARLEY_JWKS_FILE": __file__},
        sentence="PARLEY_JWKS_URL and PARLEY_JWKS_FILE are two sources of keys: leave one out.",
    ),
    Case(
        "one audience for people and services",
        {"PARLEY_JWT_AUDIENCE": "app", "PARLEY_JWT_SERVICE_AUDIENCE": "app"},
        sentence="PARLEY_JWT_AUDIENCE and PARLEY_JWT_SERVICE_AUDIENCE are both 'app', so people "
        "and services can't be told apart: change one.",
    ),
    Case(
        "an issuer in development",
        {"PARLEY_JWT_ISSUER": "https://issuer"},
        development=True,
        sentence="In development the service signs tokens with a key of its own, so "
        "PARLEY_JWT_ISSUER is of no use: leave it out, or leave development.",
    ),
    Case(
        "foreign keys in development",
        {"PARLEY_JWKS_URL": "https://issuer/keys", "PARLEY_ENVIRONMENT": "development"},
        sentence="In development the service signs tokens with a key of its own, so "
        "PARLEY_JWKS_URL is of no use: ",
    ),
    *(
        Case(
            f"development on {host}",
            {"PARLEY_HOST": host},
            development=True,
            sentence="In development the service listens on this machine alone, "
            f"not on '{host}': leave PARLEY_HOST out, ",
        )
        for host in ("0.0.0.0", "::", "192.168.1.7", "parley.example")
    ),
    Case(
        "a Gemini model without a key",
        {"PARLEY_MODEL": "gemini-x"},
        sentence="The model 'gemini-x' needs a Gemini key: set GEMINI_API_KEY, "
        "or leave PARLEY_MODEL out.",
    ),
    Case(
        "a title model without a key",
        {"PARLEY_TITLE_MODEL": "gemini-x"},
        sentence="PARLEY_TITLE_MODEL is of no use without Gemini: ",
    ),
    Case(
        "Gemini's address for the demo agent",
        {
            "PARLEY_GEMINI_BASE_URL": "http://localhost:1",
            "GEMINI_API_KEY": "k",
            "PARLEY_MODEL": "demo",
        },
        sentence="PARLEY_GEMINI_BASE_URL is of no use without Gemini: ",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_can_not_be_served_stops_the_start_with_a_sentence(
    case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    set_up(case, monkeypatch, tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(development=case.development, port=case.port)
    text = str(caught.value)
    assert text.startswith(case.sentence.format(file=tmp_path / "parley.toml"))
    assert "\n" not in text.strip()
    assert "secret" not in text


def test_secrets_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "hush-key")
    monkeypatch.setenv("PARLEY_DATABASE_URL", "postgresql://u:hush-word@h/d")
    assert "hush" not in repr(load_settings())


def test_built_directly_the_settings_read_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLEY_PORT", "7")
    monkeypatch.setenv("PARLEY_XYZZY", "7")
    assert Settings().port == 50051


def test_the_data_folder_is_where_the_embedded_server_can_reach_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_data_dir() == Path("/var/lib/parley")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert default_data_dir() == tmp_path / ".local/share/parley"
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    assert default_data_dir() == Path("/elsewhere/parley")
