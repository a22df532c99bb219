/** The server that this page came from. */

import { type Client, connect } from "@parley/client";
import { token } from "./token";

/** Calls the server with whatever token there is at that moment. */
export const client: Client = connect({
  baseUrl: location.origin,
  token: () => token.peek() ?? "",
});
