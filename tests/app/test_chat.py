"""A conversation in the terminal, key by key, with a real service."""




ENTER = "\r"
DOWN = "\x1b[B"
CTRL_C = "\x03"
CTRL_D = "\x04"

DELETE = Call(
    "ask_confirm",
    {
        "prompt": "Delete all of them?",
        "confirmLabel": "Delete",
        "denyLabel": "Keep",
        "destructive": True,
    },
    "call_delete",
)


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    """The keyboard of the terminal in this test. Keys that nobody reads yet wait for who does."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


@pytest.fixture
def screen() -> io.StringIO:
    """All that was printed, but for the prompts and menus themselves."""
    return io.StringIO()


class Seat:
    """Somebody at a terminal."""

    def __init__(self, person: Person, keys: PipeInput, screen: io.StringIO) -> None:
        self.person = person
        self._keys = keys
        self._screen = screen

    async def chat(self, *typed: str, conversation_id: str = "") -> str:
        """Types, leaves when all is typed, and returns what was shown meanwhile."""
        self._screen.truncate(0)
        self._screen.seek(0)
        self._keys.send_text("".join(typed))
        terminal = Terminal(Console(file=self._screen, width=80))
        await Chat(self.person.client, terminal).run(conversation_id)
        return self._screen.getvalue()

    async def conversation_ids(self) -> list[str]:
        """Names the person's conversations, the last changed first."""
        response = await self.person.client.conversations.ListConversations(
            ListConversationsRequest()
        )
        return [conversation.conversation_id for conversation in response.conversations]

    async def asks(self, conversation_id: str) -> list[tuple[MessageAsk.Status, AskAnswer]]:
        """Returns how the asks of a conversation were resolved."""
        return [
            (message.ask.status, message.ask.answer)
            for message in await self.person.messages(conversation_id)
            if message.type == Message.TYPE_TOOL_RESULT
        ]


@pytest.fixture
async def sit(
    start_server: StartServer, keys: PipeInput, screen: io.StringIO
) -> AsyncIterator[Callable[[Pick], Awaitable[Seat]]]:
    async def take_a_seat(pick: Pick) -> Seat:
        server = await start_server(pick)
        return Seat(await server.person(), keys, screen)

    yield take_a_seat
