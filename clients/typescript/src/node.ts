/** The same client for Node, over gRPC: straight to a server, or through the gateway. */

import type { SecureContextOptions } from "node:tls";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Client, type Connection, clientOf, interceptorsOf } from "./client.js";

export * from "./index.js";
export { type UploadOptions, uploadFile } from "./uploads.js";

/** Where a server is, and whom to trust. */
export interface GrpcConnection extends Connection {
  /** Holds keys and certificates of your own, as `node:tls` takes them. */
  readonly tls?: SecureContextOptions;
}

/** Returns a client that speaks gRPC. Nothing is encrypted, the token included, unless `baseUrl` is `https:`. */
export function connect({ baseUrl, token, tls = {} }: GrpcConnection): Client {
  const interceptors = interceptorsOf(token);
  return clientOf(createGrpcTransport({ baseUrl, interceptors, nodeOptions: tls }));
}
