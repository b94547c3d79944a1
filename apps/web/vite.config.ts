import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const API = process.env.SALLYPORT_API ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: 'dist',
    // Data URLs for small files would need a wider policy for fonts and styles.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': { target: API, ws: true } } },
});
