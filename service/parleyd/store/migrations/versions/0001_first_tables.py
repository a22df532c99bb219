"""Makes the tables of spec turns 4.1."""

from alembic import op

revision = "0001"
down_revision = None

_STATEMENTS = (
    """
    CREATE TABLE conversations (
      id                uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
      owner             text        NOT NULL,
      title             text,
      project           text,
      last_seq          bigint      NOT NULL DEFAULT 0,
      last_turn_no      integer     NOT NULL DEFAULT 0,
      retryable_turn_id uuid,
      create_time       timestamptz NOT NULL DEFAULT now(),
      update_time       timestamptz NOT NULL DEFAULT now(),
      delete_time       timestamptz,
      CONSTRAINT conversations_owner_given CHECK (owner <> ''),
      CONSTRAINT conversations_title_shown_whole
        CHECK (title IS NULL OR (title <> '' AND char_length(title) <= 200))
    )
    """,
    """
    CREATE INDEX conversations_by_owner ON conversations (owner, update_time DESC, id)
      WHERE delete_time IS NULL
    """,
    """
    CREATE TABLE turns (
      id               uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
      conversation_id  uuid        NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
      turn_no          integer     NOT NULL,
      chain_id         uuid        NOT NULL REFERENCES turns (id),
      retry_of         uuid        UNIQUE REFERENCES turns (id),
      owner            text        NOT NULL,
      input_kind       text        NOT NULL,
      surface          text        NOT NULL DEFAULT 'full',
      model            text,
      options          jsonb       NOT NULL DEFAULT '{}',
      state            text        NOT NULL DEFAULT 'running',
      outcome          text,
      answered_ask_id  uuid,
      context_max_seq  bigint      NOT NULL,
      partial_text     text        NOT NULL DEFAULT '',
      error_reason     text,
      error_message    text,
      request_id       text,
      request_hash     bytea,
      result           jsonb,
      last_event       integer     NOT NULL DEFAULT 0,
      attempts         integer     NOT NULL DEFAULT 1,
      lease_holder     text        NOT NULL,
      lease_epoch      integer     NOT NULL DEFAULT 1,
      lease_until      timestamptz NOT NULL,
      create_time      timestamptz NOT NULL DEFAULT now(),
      close_time       timestamptz,
      UNIQUE (conversation_id, turn_no),
      CONSTRAINT turns_input_kind_known CHECK (input_kind IN
        ('prompt','answer','button','action_token','retry','service','system')),
      CONSTRAINT turns_surface_known CHECK (surface IN ('full','compact')),
      CONSTRAINT turns_state_known CHECK (state IN ('running','committed','closed')),
      CONSTRAINT turns_outcome_known CHECK (outcome IN ('completed','paused','failed')),
      CONSTRAINT turns_outcome_when_run CHECK ((state = 'running') = (outcome IS NULL)),
      CONSTRAINT turns_time_when_closed CHECK ((state = 'closed') = (close_time IS NOT NULL)),
      CONSTRAINT turns_retry_of_another CHECK ((input_kind = 'retry') = (retry_of IS NOT NULL)),
      CONSTRAINT turns_request_hashed CHECK ((request_id IS NULL) = (request_hash IS NULL))
    )
    """,
    """
    CREATE UNIQUE INDEX turns_request_id ON turns (owner, request_id)
      WHERE request_id IS NOT NULL
    """,
    "CREATE INDEX turns_by_chain ON turns (chain_id)",
    "CREATE INDEX turns_lease ON turns (lease_until) WHERE state <> 'closed'",
    "CREATE INDEX turns_running_by_owner ON turns (owner) WHERE state = 'running'",
    """
    ALTER TABLE conversations
      ADD FOREIGN KEY (retryable_turn_id) REFERENCES turns (id) ON DELETE SET NULL
    """,
    """
    CREATE TABLE asks (
      id                 uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
      conversation_id    uuid        NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
      chain_id           uuid        NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
      owner              text        NOT NULL,
      tool_call_id       text        NOT NULL,
      provider_call_id   text,
      kind               text        NOT NULL,
      origin             text        NOT NULL DEFAULT 'model',
      tool_name          text        NOT NULL,
      tool_args          jsonb,
      input              jsonb       NOT NULL,
      simple             jsonb       NOT NULL,
      status             text        NOT NULL,
      answer             jsonb,
      created_by_turn    uuid        REFERENCES turns (id) ON DELETE SET NULL,
      resolved_by_turn   uuid        REFERENCES turns (id) ON DELETE SET NULL,
      created_by_service text,
      service_request_id text,
      visible_to_model   boolean     NOT NULL DEFAULT false,
      expire_time        timestamptz,
      revision           bigint      NOT NULL DEFAULT 1,
      create_time        timestamptz NOT NULL DEFAULT now(),
      resolve_time       timestamptz,
      UNIQUE (conversation_id, tool_call_id),
      CONSTRAINT asks_tool_call_id_given CHECK (tool_call_id <> ''),
      CONSTRAINT asks_kind_known
        CHECK (kind IN ('choice','confirm','markdown','form','files')),
      CONSTRAINT asks_origin_known CHECK (origin IN ('model','approval','service')),
      CONSTRAINT asks_status_known CHECK (status IN ('pending','answered','cancelled')),
      CONSTRAINT asks_answer_when_resolved CHECK ((status = 'pending') = (answer IS NULL)),
      CONSTRAINT asks_time_when_resolved CHECK ((status = 'pending') = (resolve_time IS NULL)),
      CONSTRAINT asks_approval_confirms CHECK (origin <> 'approval' OR kind = 'confirm'),
      CONSTRAINT asks_approval_of_a_call
        CHECK ((origin = 'approval') = (tool_args IS NOT NULL)),
      CONSTRAINT asks_service_named
        CHECK ((origin = 'service') = (created_by_service IS NOT NULL))
    )
    """,
    """
    CREATE UNIQUE INDEX asks_one_pending ON asks (conversation_id) WHERE status = 'pending'
    """,
    """
    CREATE INDEX asks_pending_by_owner ON asks (owner, create_time DESC, id)
      WHERE status = 'pending'
    """,
    """
    CREATE INDEX asks_expiry ON asks (expire_time)
      WHERE status = 'pending' AND expire_time IS NOT NULL
    """,
    """
    CREATE UNIQUE INDEX asks_service_request ON asks (created_by_service, service_request_id)
      WHERE service_request_id IS NOT NULL
    """,
    """
    CREATE TABLE turn_steps (
      chain_id    uuid        NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
      step_no     integer     NOT NULL,
      turn_id     uuid        NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
      provider    text        NOT NULL,
      model       text        NOT NULL,
      codec       text        NOT NULL,
      messages    bytea       NOT NULL,
      calls       jsonb       NOT NULL,
      text        text        NOT NULL DEFAULT '',
      create_time timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (chain_id, step_no),
      CONSTRAINT turn_steps_step_no_counts CHECK (step_no > 0),
      CONSTRAINT turn_steps_calls_given
        CHECK (jsonb_typeof(calls) = 'array' AND jsonb_array_length(calls) > 0)
    )
    """,
    """
    CREATE TABLE messages (
      conversation_id uuid        NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
      seq             bigint      NOT NULL,
      turn_id         uuid        NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
      turn_no         integer     NOT NULL,
      position        integer     NOT NULL,
      type            text        NOT NULL,
      text            text        NOT NULL DEFAULT '',
      content         jsonb,
      model           text,
      status          text,
      tool_call_id    text,
      tool_name       text,
      args            jsonb,
      result          jsonb,
      ask_id          uuid        REFERENCES asks (id),
      rating          text,
      create_time     timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (conversation_id, seq),
      UNIQUE (turn_id, position),
      CONSTRAINT messages_seq_counts CHECK (seq > 0),
      CONSTRAINT messages_type_known
        CHECK (type IN ('user','assistant','tool_call','tool_result')),
      CONSTRAINT messages_status_known CHECK (status IN ('complete','error')),
      CONSTRAINT messages_rating_known CHECK (rating IN ('up','down')),
      CONSTRAINT messages_call_named
        CHECK ((type IN ('tool_call','tool_result')) = (tool_call_id IS NOT NULL)),
      CONSTRAINT messages_tool_named CHECK ((tool_call_id IS NULL) = (tool_name IS NULL)),
      CONSTRAINT messages_result_given CHECK (type <> 'tool_result' OR result IS NOT NULL),
      CONSTRAINT messages_status_of_a_reply CHECK (type = 'assistant' OR status IS NULL),
      CONSTRAINT messages_ask_of_a_call
        CHECK (ask_id IS NULL OR type IN ('tool_call','tool_result')),
      CONSTRAINT messages_prompt_given CHECK (type NOT IN ('user') OR text <> '')
    )
    """,
    """
    CREATE UNIQUE INDEX messages_one_call_per_ask ON messages (ask_id)
      WHERE type = 'tool_call' AND ask_id IS NOT NULL
    """,
    """
    CREATE UNIQUE INDEX messages_one_result_per_ask ON messages (ask_id)
      WHERE type = 'tool_result' AND ask_id IS NOT NULL
    """,
    "CREATE INDEX messages_in_order ON messages (conversation_id, turn_no, position)",
    """
    CREATE TABLE tool_executions (
      chain_id        uuid        NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
      step_no         integer     NOT NULL,
      call_index      integer     NOT NULL,
      turn_id         uuid        NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
      tool_call_id    text        NOT NULL,
      tool_name       text        NOT NULL,
      approval_ask_id uuid        UNIQUE REFERENCES asks (id),
      args            jsonb       NOT NULL,
      state           text        NOT NULL,
      result          jsonb,
      runs            integer     NOT NULL DEFAULT 1,
      start_time      timestamptz NOT NULL DEFAULT now(),
      end_time        timestamptz,
      PRIMARY KEY (chain_id, step_no, call_index),
      CONSTRAINT tool_executions_call_index_counts CHECK (call_index >= 0),
      CONSTRAINT tool_executions_state_known
        CHECK (state IN ('started','finished','failed','unknown')),
      CONSTRAINT tool_executions_time_when_ended
        CHECK ((state = 'started') = (end_time IS NULL)),
      CONSTRAINT tool_executions_result_when_ended CHECK ((state = 'started') = (result IS NULL))
    )
    """,
    """
    CREATE TABLE turn_events (
      turn_id     uuid        NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
      sequence    integer     NOT NULL,
      payload     bytea       NOT NULL,
      create_time timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (turn_id, sequence),
      CONSTRAINT turn_events_sequence_counts CHECK (sequence > 0)
    )
    """,
    """
    CREATE TABLE files (
      id          uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
      owner       text        NOT NULL,
      filename    text        NOT NULL,
      storage_key text        NOT NULL UNIQUE,
      mime_type   text        NOT NULL,
      size_bytes  bigint      NOT NULL,
      sha256      bytea       NOT NULL,
      create_time timestamptz NOT NULL DEFAULT now(),
      delete_time timestamptz,
      CONSTRAINT files_filename_shown_whole CHECK (char_length(filename) BETWEEN 1 AND 255),
      CONSTRAINT files_size_counts CHECK (size_bytes >= 0)
    )
    """,
    """
    CREATE INDEX files_by_owner ON files (owner, create_time DESC) WHERE delete_time IS NULL
    """,
    """
    CREATE TABLE ai_requests (
      id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      owner            text,
      conversation_id  uuid,
      turn_id          uuid,
      ai_model         text        NOT NULL,
      request_type     text        NOT NULL,
      prompt           text        NOT NULL,
      response         text,
      error            text,
      response_time_ms integer,
      tokens_used      integer,
      metadata         jsonb,
      create_time      timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX ai_requests_by_owner ON ai_requests (owner, create_time DESC)",
    "CREATE INDEX ai_requests_by_model ON ai_requests (ai_model, create_time DESC)",
    "CREATE INDEX ai_requests_by_type ON ai_requests (request_type, create_time DESC)",
    "CREATE INDEX ai_requests_by_turn ON ai_requests (turn_id)",
    """
    CREATE TABLE action_tokens (
      token_hash     bytea       PRIMARY KEY,
      ask_id         uuid        NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
      owner          text        NOT NULL,
      button_ids     text[]      NOT NULL,
      expire_time    timestamptz NOT NULL,
      used_by_turn   uuid        REFERENCES turns (id) ON DELETE SET NULL,
      used_button_id text,
      create_time    timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT action_tokens_token_hashed CHECK (octet_length(token_hash) = 32)
    )
    """,
    "CREATE INDEX action_tokens_by_ask ON action_tokens (ask_id)",
)


def upgrade() -> None:
    """Makes the tables."""
    for statement in _STATEMENTS:
        op.execute(statement)
