/** Why a call failed, read from its status. */

import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import { AskFieldErrorsSchema } from "./gen/parley/v1/asks_pb.js";

/** A fault of one field of a request. */
export interface FieldFault {
  /** Points at the field in camelCase, as in `content.selected[0]`. */
  readonly path: string;
  /** Names the rule that was broken, as in `TOO_LONG`. */
  readonly code: string;
  readonly message: string;
  /** Says how to mend it; empty where the server had to leave it out. */
  readonly fix: string;
}

/** What is known of a failed call beside its code and message. */
export interface ErrorFacts {
  readonly reason?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly fields?: readonly FieldFault[];
  readonly cause?: unknown;
}

/** Why a call failed. */
export class ParleyError extends Error {
  override readonly name = "ParleyError";
  readonly code: Code;
  /**
   * Is the name of an `ErrorReason` without its prefix; empty when the fault is not the server's
   * word, as when it can't be reached.
   */
  readonly reason: string;
  /** Holds the facts that `ErrorReason` lists for the reason. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Lists the faults of single fields. */
  readonly fields: readonly FieldFault[];

  constructor(code: Code, message: string, facts: ErrorFacts = {}) {
    super(message, { cause: facts.cause });
    this.code = code;
    this.reason = facts.reason ?? "";
    this.metadata = facts.metadata ?? {};
    this.fields = facts.fields ?? [];
  }
}

/** Returns what the server says of a failed call. */
export function errorOf(error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  const failed = ConnectError.from(error);
  const info = failed.findDetails(ErrorInfoSchema).find((each) => each.domain === "parley");
  const fixable = failed.findDetails(AskFieldErrorsSchema).flatMap((each) => each.errors);
  const broken = failed.findDetails(BadRequestSchema).flatMap((each) => each.fieldViolations);
  const code = failed === error && !info && isCut(failed) ? Code.Unavailable : failed.code;
  return new ParleyError(code, failed.rawMessage, {
    reason: info?.reason ?? "",
    metadata: info?.metadata ?? {},
    fields: fixable.length
      ? fixable.map(({ path, code, message, fix }) => ({ path, code, message, fix }))
      : broken.map((each) => ({
          path: each.field,
          code: each.reason,
          message: each.description,
          fix: "",
        })),
    cause: error,
  });
}

/** How the transports begin to say that a connection broke. */
const CUT = ["http/2 stream closed", "missing EndStreamResponse", "protocol error: incomplete"];

/**
 * Says whether there was no connection, or it broke. For gRPC that is UNAVAILABLE; the transports have
 * other codes for it: `fetch` fails with a TypeError, Node with an error that has a code of its own.
 */
function isCut({ cause, rawMessage }: ConnectError): boolean {
  if (cause instanceof TypeError) return true;
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return true;
  return CUT.some((beginning) => rawMessage.startsWith(beginning));
}

/** Says whether a call met a server that stops or can't be reached, so that it may be repeated. */
export function isUnavailable(error: ParleyError): boolean {
  return error.code === Code.Unavailable && (error.reason === "" || error.reason === "UNAVAILABLE");
}
