// Builds the console's pages into `dist/web`, which the console server hands out.

import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The server puts a fresh nonce in the place of this word, in every answer with the page (APP-3). */
const NONCE_PLACE = '__SVC_NONCE__';

/** Where `vite` itself serves the pages, it hands their calls to a console server or an engine. */
const back = process.env.SVC_CONSOLE_BACK ?? 'http://127.0.0.1:3113';

export default defineConfig({
  root: `${import.meta.dirname}/web`,
  plugins: [react(), tailwind()],
  html: { cspNonce: NONCE_PLACE },
  build: {
    outDir: `${import.meta.dirname}/dist/web`,
    emptyOutDir: true,
    target: 'es2022',
    manifest: true,
    // Its inline script would need a nonce of its own; every browser of the target preloads modules by itself.
    modulePreload: { polyfill: false },
    // Small files as data would be refused as fonts and scripts, and save nothing on loopback.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What every page is made of is one file of the first load, so that no page or editor pulls in another.
            {
              name: 'kit',
              test: /\/web\/(?:data|kit\/(?!json\/(?:code-|schema-|form-|editor-|logic\/schema-(?:errors|form))))/,
            },
            { name: 'kit', test: /\/src\/core\//, minShareCount: 2 },
            { name: 'kit', test: /node_modules\/(?:@radix-ui|@floating-ui|@tanstack\/(?:react-)?virtual)/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': { target: back, ws: true }, '/ws': { target: back, ws: true } } },
  preview: { proxy: { '/api': { target: back, ws: true }, '/ws': { target: back, ws: true } } },
});
