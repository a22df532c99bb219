"""The Python client for programs without asyncio, under the same names.

```python
with parley.sync.connect("localhost:50051", token) as client:
    request = StreamTurnRequest(prompt=PromptInput(text="Set up my plan"))
    for event in parley.sync.turn_events(client, request):
        print(event)
```
"""

from parley.asks import Asked, card_answer
from parley.errors import FieldFault, ParleyError, error_of
from parley.sync.client import Client, Token, connect
from parley.sync.files import download_file, upload_file
from parley.sync.turns import turn_events
from parley.transfers import Download

__all__ = [
    "Asked",
    "Client",
    "Download",
    "FieldFault",
    "ParleyError",
    "Token",
    "card_answer",
    "connect",
    "download_file",
    "error_of",
    "turn_events",
    "upload_file",
]
