"""Files that the person adds by their paths."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from parley import Client, FieldFault
from parley.v1.asks_pb2 import AcceptAnswer, FileRef, FilesAnswer
from parley.v1.turns_pb2 import AnswerInput
from parleyd.app.chat.local_files import FileRefused, FileUnreadable, read_file, uploaded
from parleyd.app.chat.menus import Menu, MenuItem
from parleyd.app.chat.questions import OpenQuestion, fault_of, told
from parleyd.app.chat.terminal import Terminal
from parleyd.contract import limits
from parleyd.contract.file_types import check_file_bytes
from parleyd.contract.text import is_blank

_COUNT_PATH: Final = "content.files"
_MESSAGE_ROOM: Final = 64 * 1024
"""What an answer needs besides the bytes of its files, and more."""


class AnsweredFiles:
    """The files so far, in the order in which they were added.

    A file is uploaded when it is added, if `client` is of a service that keeps files. Otherwise its
    bytes wait here for the answer, which has room for some megabytes.
    """

    def __init__(self, question: OpenQuestion, client: Client | None = None) -> None:
        self.question = question
        self._client = client
        self._files: list[FileRef] = []

    @property
    def names(self) -> Mapping[str, str]:
        """What the paths of an answer stand for: each file by its name."""
        return _names(self._files)

    def show(self, terminal: Terminal) -> None:
        """Shows nothing more: the files are lines of the menu."""

    def menu(self) -> Menu:
        """Returns how to add a file, to take each one out and, if they fit, to send them."""
        said = self._answer(self._files)
        faults = self.question.faults_of(said)
        items: list[MenuItem] = []
        if not faults:
            items.append(MenuItem(self.question.input.submit_label or "Send them", said))
        if len(self._files) < (self.question.input.files.max_files or limits.FILES_MAX):
            label = "Add another file" if self._files else "Add a file"
            items.append(MenuItem(label, self._add))
        items += [
            MenuItem(f"Take out {_line(file)}", partial(self._take_out, file))
            for file in self._files
        ]
        return Menu(tuple(items))

    def refuse(self, faults: Sequence[FieldFault]) -> None:
        """Keeps nothing more: the files stay until the person takes them out."""

    async def _add(self, terminal: Terminal) -> None:
        """Asks for a path until there is a file at it that may be sent."""
        written = ""
        while True:
            path = await terminal.name_file("Path of the file:", written)
            if path is None or is_blank(path):
                return
            written = path
            try:
                file = await asyncio.to_thread(read_file, written)
            except FileUnreadable as error:
                terminal.show_fault(str(error))
                continue
            faults = await asyncio.to_thread(self._faults_of_another, file)
            if faults:
                terminal.show_fault(f"“{file.filename}” does not fit.", faults)
                continue
            try:
                sent = await uploaded(self._client, file) if self._client else file
            except FileRefused as error:
                terminal.show_fault(str(error), error.fixes)
                continue
            if len(sent.data) > (room := self._room):
                fault = "With the others it is too much for one answer"
                terminal.show_fault(
                    f"“{file.filename}” does not fit.",
                    [f"{fault}: there is room for {room} bytes."],
                )
                continue
            self._files.append(sent)
            return

    @property
    def _room(self) -> int:
        """How many bytes more the answer may hold."""
        return limits.RECEIVE_BYTES - _MESSAGE_ROOM - sum(len(each.data) for each in self._files)

    async def _take_out(self, file: FileRef, terminal: Terminal) -> None:
        self._files.remove(file)
        terminal.say(f"{file.filename} is out.")

    def _faults_of_another(self, file: FileRef) -> list[str]:
        """Returns what is wrong with a file that is added to the others."""
        files = [*self._files, file]
        position = len(self._files)
        faults = [
            fault
            for fault in self.question.faults_of(self._answer(files))
            if fault.path.startswith(f"{_COUNT_PATH}[{position}]")
        ] or [
            fault_of(error)
            for error in check_file_bytes(file.data, position, file.mime_type, limits.FILE_BYTES)
        ]
        return told(faults, _names(files))

    def _answer(self, files: Sequence[FileRef]) -> AnswerInput:
        return self.question.accept(AcceptAnswer(files=FilesAnswer(files=files)))


def _names(files: Sequence[FileRef]) -> dict[str, str]:
    names = {_COUNT_PATH: "the list"}
    for position, file in enumerate(files):
        path, name = f"{_COUNT_PATH}[{position}]", f"“{file.filename}”"
        names |= {
            path: name,
            f"{path}.filename": f"the name of {name}",
            f"{path}.mimeType": f"the type of {name}",
            f"{path}.size": name,
            f"{path}.url": f"the bytes of {name}",
        }
    return names


def _line(file: FileRef) -> str:
    return f"{file.filename} ({file.mime_type}, {file.size} bytes)"
