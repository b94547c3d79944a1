import { readFileSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

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
    return isOthers && name && version ? [[name, version, license ?? '']] : [];
  },
);

export default defineConfig({
  plugins: [react()],
  define: {
    SALLYPORT_PACKAGES: JSON.stringify(packages),
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
  },
  server: { proxy: { '/api': { target: API, ws: true } } },
});
