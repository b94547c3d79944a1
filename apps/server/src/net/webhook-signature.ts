import { createHmac } from 'node:crypto';

/** Signature of a body that we post, as in `X-Sallyport-Signature`. */
export const signatureOf = (secret: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(body, 'utf8').digest('hex')}`;
