import { watchSilence } from '@sallyport/deployment/patience';

/** Settles like `work`, or rejects with a `TimeoutError` when it takes longer; `work` itself is not stopped. */
export const withTimeout = async <T>(work: Promise<T>, timeoutMs: number): Promise<T> => {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const watch = watchSilence(timeoutMs, () =>
    reject(new DOMException(`not done within ${timeoutMs} ms`, 'TimeoutError')),
  );
  try {
    return await Promise.race([work, timeout]);
  } finally {
    watch.stop();
  }
};
