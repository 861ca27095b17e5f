import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** The folder of what is committed: the program, its style sheet and the licences. */
const bundle = process.env.HEDDLE_BUNDLE ?? "../out/report/bundle";

/** Writes the licences of the libraries that the program contains. */
function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_, files) {
      const packages = new Set<string>();
      for (const file of Object.values(files)) {
        if (file.type !== "chunk") continue;
        for (const id of file.moduleIds) {
          const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id);
          if (found) packages.add(found[1]);
        }
      }
      let text = "The page of Heddle's reports contains these libraries.\n";
      for (const name of [...packages].sort()) {
        const folder = join("node_modules", name);
        const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
        const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
        const licence = file ? readFileSync(join(folder, file), "utf8").trim() : about.license;
        text += `\n== ${name} ${about.version} (${about.license})\n\n${licence}\n`;
      }
      mkdirSync(bundle, { recursive: true });
      writeFileSync(join(bundle, "LICENCES.txt"), text);
    },
  };
}

export default defineConfig({
  plugins: [licences()],
  build: {
    outDir: bundle,
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      input: "src/main.ts",
      output: {
        format: "iife",
        entryFileNames: "report.js",
        assetFileNames: "report.[ext]",
      },
    },
  },
});
