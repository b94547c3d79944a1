import { setNonce } from 'get-nonce';

/** What styles that are made in the page must carry (Content-Security-Policy). */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

// For the library that keeps the page behind a drawer from scrolling.
setNonce(nonce);
