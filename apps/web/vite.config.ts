import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { guidePages, guideTitles } from './guide-pages.ts';
import { icons } from './icons.ts';

const API = process.env.SALLYPORT_API ?? 'http://127.0.0.1:8080';

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}

const readTree = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')) as T;

/** What comes along when the service is installed: name, version and licence. */
const packages = Object.entries(readTree<{ packages: Record<string, Locked> }>('package-lock.json').packages).flatMap(
  ([path, { version, license, dev, link }]) => {
    const name = path.split('node_modules/').at(-1);
    const isOthers = path.startsWith('node_modules/') && dev !== true && link !== true;
    return isOthers && name && version ? [[name, version, license ?? ''] as const] : [];
  },
);
packages.sort(([one], [other]) => one.localeCompare(other, 'en'));

/** Puts a packed one beside each file, as the server gives it to browsers that take it: brotli over TLS, gzip without. */
const packed: Plugin = {
  name: 'packed',
  writeBundle({ dir = '' }, bundle) {
    for (const name of Object.keys(bundle).filter((name) => /\.(?:js|css|svg)$/.test(name))) {
      const content = readFileSync(join(dir, name));
      // Higher ones take twenty times as long for six in a hundred.
      const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
      writeFileSync(join(dir, `${name}.br`), brotliCompressSync(content, brotli));
      writeFileSync(join(dir, `${name}.gz`), gzipSync(content, { level: 9 }));
    }
  },
};

export default defineConfig({
  plugins: [react(), guidePages, icons, packed],
  define: {
    SALLYPORT_PACKAGES: JSON.stringify(packages),
    SALLYPORT_GUIDE: JSON.stringify(guideTitles()),
    SALLYPORT_VERSION: JSON.stringify(readTree<{ version: string }>('package.json').version),
  },
  build: {
    outDir: 'dist',
    // Data URLs for small files would need a wider policy for fonts and styles.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    // Older ones know no light-dark(), and what stands in for it knows nothing of the scheme that was chosen.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Left to itself it makes a file of every part that two screens share: a hundred requests for a page, six at a time.
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            // Fewer, and who signs in would wait for what few screens need.
            { name: 'shared', minShareCount: 8 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': { target: API, ws: true } } },
});
