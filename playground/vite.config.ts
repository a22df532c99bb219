import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The assets are committed; their names hold a hash of their content, so building again changes nothing.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@parley\/client$/, replacement: here("../clients/typescript/src/index.ts") },
      // Braces, since `$1_pb` would be a group of that name.
      {
        find: /^@parley\/client\/v1\/(.*)$/,
        replacement: `${here("../clients/typescript/src/gen/parley/v1/")}\${1}_pb.ts`,
      },
    ],
    dedupe: ["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web", "preact"],
  },
  server: { proxy: { "/parley.v1.": "http://127.0.0.1:8080", "/v1/": "http://127.0.0.1:8080" } },
  build: {
    outDir: here("../service/parleyd/rpc/web/assets"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
});
