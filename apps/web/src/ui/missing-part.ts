/** Why parts of the interface could not be had: what the loader of parts told. */
const told = new WeakSet<object>();

// Vite's loader tells it of every part; how the error itself reads is each browser's own.
window.addEventListener('vite:preloadError', ({ payload }) => told.add(payload));

/** Whether an error is that a part of the interface is not there any more, or could not be fetched: then only the whole page helps. */
export const isMissingPart = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && told.has(error);
