/** The TypeScript client of Parley, for browsers and all that has `fetch`. */

export { Code } from "@connectrpc/connect";
export { type Asked, cardAnswer } from "./asks.js";
export {
  type Client,
  type Connection,
  clientOf,
  connect,
  interceptorsOf,
  type Token,
} from "./client.js";
export { type Download, downloadFile } from "./downloads.js";
export { type ErrorFacts, errorOf, type FieldFault, ParleyError } from "./errors.js";
export { type TurnOptions, type TurnRequestInit, turnEvents } from "./turns.js";
