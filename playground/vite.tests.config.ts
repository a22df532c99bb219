import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import page from "./vite.config.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const tests = ["src", "renderer/tests"].flatMap((folder) =>
  readdirSync(here(folder), { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path}`)
    .filter((path) => /\/tests\/([^/]+\/)*[^/]+\.test\.tsx?$/.test(path)),
);

// Node runs no JSX and knows no aliases, so the tests are bundled with what they test.
export default defineConfig({
  resolve: page.resolve ?? {},
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: here("node_modules/.tests"),
    emptyOutDir: true,
    minify: false,
    target: "node20",
    rolldownOptions: {
      input: Object.fromEntries(
        tests.map((path) => [path.replaceAll("/", "-").replace(/\.tsx?$/, ""), here(path)]),
      ),
    },
  },
});
