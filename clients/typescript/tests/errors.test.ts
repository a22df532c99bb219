import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";
import { AskFieldErrorsSchema } from "../src/gen/parley/v1/asks_pb.js";
import { type Client, connect, errorOf, ParleyError } from "../src/index.js";
import { connect as connectGrpc } from "../src/node.js";
import { all, refusal } from "./played_turns.js";

const FAULT = {
  path: "content.selected[0]",
  code: "OPTION_NOT_OFFERED",
  message: "That is no option.",
  fix: "Pick one of a, b.",
};
const BAD_REQUEST = {
  desc: BadRequestSchema,
  value: {
    fieldViolations: [{ field: FAULT.path, reason: FAULT.code, description: FAULT.message }],
  },
};

function invalid(...details: ConstructorParameters<typeof ConnectError>[3] & object): ConnectError {
  return new ConnectError("It does not fit.", Code.InvalidArgument, undefined, details);
}

test("an error has its reason and facts", () => {
  const refused = refusal(Code.PermissionDenied, "OPTION_FORBIDDEN", { option: "model" });
  const error = errorOf(refused);
  assert(error instanceof ParleyError);
  assert.equal(error.code, Code.PermissionDenied);
  assert.equal(error.message, "No.");
  assert.equal(error.reason, "OPTION_FORBIDDEN");
  assert.deepEqual(error.metadata, { option: "model" });
  assert.deepEqual(error.fields, []);
  assert.equal(error.cause, refused);
  assert.equal(errorOf(error), error);
});

test("the faults of fields come with their fixes", () => {
  const fixable = { desc: AskFieldErrorsSchema, value: { errors: [FAULT] } };
  assert.deepEqual(errorOf(invalid(BAD_REQUEST, fixable)).fields, [FAULT]);
});

test("faults that lost their fixes on the way are read without", () => {
  assert.deepEqual(errorOf(invalid(BAD_REQUEST)).fields, [{ ...FAULT, fix: "" }]);
});

test("the reason of something else on the way is none of ours", () => {
  const value = { reason: "QUOTA", domain: "elsewhere.example" };
  assert.equal(errorOf(invalid({ desc: ErrorInfoSchema, value })).reason, "");
});

test("what is no error of a call is an error still", () => {
  for (const odd of [new RangeError("odd"), new TypeError("odd"), "odd"]) {
    const { code, message, reason, cause } = errorOf(odd);
    assert.deepEqual([code, message, reason, cause], [Code.Unknown, "odd", "", odd]);
  }
});

const CLIENTS: Record<string, (baseUrl: string) => Client> = {
  grpc: (baseUrl) => connectGrpc({ baseUrl, token: "token" }),
  connect: (baseUrl) => connect({ baseUrl, token: "token" }),
};
const ENDS: Record<string, (socket: Socket) => void> = {
  "closes the connection": (socket) => socket.end(),
  "breaks the connection": (socket) => socket.resetAndDestroy(),
};

/** Serves on a free port of this machine, and returns how calls fail that are sent there. */
async function failures(server: Server, client: (baseUrl: string) => Client, closed = false) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  if (closed) server.close();
  const { turns } = client(`http://127.0.0.1:${port}`);
  const calls = [turns.runBlockAction({}), all(turns.watchTurn({})), turns.getTurn({})];
  const failed = await Promise.all(
    calls.map((call) => call.then(() => assert.fail("it went through"), errorOf)),
  );
  server.close();
  return failed;
}

for (const [protocol, client] of Object.entries(CLIENTS)) {
  test(`a server that is not there has no reason, over ${protocol}`, async () => {
    for (const error of await failures(createServer(), client, true)) {
      assert.deepEqual([error.code, error.reason], [Code.Unavailable, ""]);
    }
  });

  for (const [what, end] of Object.entries(ENDS)) {
    test(`a server that ${what} is unavailable, over ${protocol}`, async () => {
      const server = createServer((socket) => {
        socket.on("error", () => {});
        socket.once("data", () => end(socket));
      });
      let connections = 0;
      server.on("connection", () => connections++);
      for (const error of await failures(server, client)) {
        assert.deepEqual([error.code, error.reason], [Code.Unavailable, ""]);
      }
      assert(connections >= 5, `a read is sent again: ${connections}`);
    });
  }
}

const CUTS: Record<string, RequestListener> = {
  "between two messages": (_, response) => response.end(Buffer.from([0, 0, 0, 0, 0])),
  "in a message": (_, response) => response.end(Buffer.from([0, 0, 0, 0, 9, 8])),
  "by force": (request, response) => {
    response.write(Buffer.from([0, 0, 0, 0, 0]), () => request.socket.destroy());
  },
};

for (const [where, cut] of Object.entries(CUTS)) {
  test(`a stream that is cut ${where} is unavailable`, async () => {
    const server = createHttpServer((request, response) => {
      const streams = request.url?.endsWith("WatchTurn");
      response.writeHead(streams ? 200 : 503, { "content-type": "application/connect+proto" });
      if (streams) cut(request, response);
      else response.end();
    });
    for (const error of await failures(server, (baseUrl) => connect({ baseUrl, token: "token" }))) {
      assert.deepEqual([error.code, error.reason], [Code.Unavailable, ""]);
    }
  });
}
