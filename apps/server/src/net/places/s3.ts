import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { AwsV4Signer } from 'aws4fetch';
import { administratorsAddress } from '../administrators-address.ts';
import { type CopySource, IDLE_MS, MOST_READ_BYTES, mostMsFor, type Place, type PlaceOptions } from './place.ts';
import type { PlaceUrl } from './place-url.ts';

export interface S3Options extends PlaceOptions {
  place: Extract<PlaceUrl, { kind: 's3' }>;
  region: string;
  accessKey: string;
  secretKey: string;
}

type Method = 'GET' | 'PUT' | 'DELETE';

/** Services refuse more in one request. */
const MOST_BYTES = 5 * 1024 ** 3;
const NOTHING = createHash('sha256').digest('hex');

const bodyOf = async (response: IncomingMessage): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MOST_READ_BYTES) throw new Error('the S3 service answered more than it was asked for');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};

/** What an S3 service says in its answers of XML: `AccessDenied: Access Denied`. */
const reasonOf = (status: number, body: Buffer): string => {
  const text = body.toString('utf8');
  const field = (name: string) => new RegExp(`<${name}>([^<]{1,300})</${name}>`).exec(text)?.[1];
  return [`the S3 service answered ${status}`, field('Code'), field('Message')].filter(Boolean).join(': ');
};

/** Opens a bucket of an S3-compatible service, addressed by path. An object is there whole or not at all: its size and digest are signed. */
export const openS3 = async (options: S3Options): Promise<Place> => {
  const { place, region, accessKey, secretKey, signal, idleMs = IDLE_MS } = options;
  const { url, bucket, prefix } = place;
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const address = await administratorsAddress(hostname);
  const request = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const objectUrl = (name: string) => `${url.origin}/${bucket}/${prefix}${name}`;

  const ask = async (method: Method, name: string, source?: CopySource) => {
    const signed = await new AwsV4Signer({
      method,
      url: objectUrl(name),
      headers: { 'x-amz-content-sha256': source?.sha256 ?? NOTHING },
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: 's3',
      region,
    }).sign();
    const sent = request({
      method,
      // To the very address that was checked, under the name that the certificate is for.
      host: address,
      port: url.port,
      path: signed.url.pathname,
      ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      headers: { ...Object.fromEntries(signed.headers), host: url.host, 'content-length': source?.size ?? 0 },
      agent: false,
      timeout: idleMs,
      signal: AbortSignal.any([signal, AbortSignal.timeout(mostMsFor(source?.size ?? 0))]),
    });
    const idle = () => sent.destroy(new Error(`the S3 service did not go on for ${idleMs / 1_000} seconds`));
    sent.on('timeout', idle);
    const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    sent.once('response', resolve).once('error', reject);
    const sending = source ? pipeline(createReadStream(source.path), sent) : Promise.resolve(sent.end());
    // A service that refuses answers before it has read everything, and closes: then its answer says why.
    sending.catch(() => {});
    try {
      const response = await answered;
      const body = await bodyOf(response);
      return { status: response.statusCode ?? 0, body };
    } finally {
      sent.destroy();
    }
  };

  return {
    async put(name, source) {
      if (source.size > MOST_BYTES) throw new Error('the backup is larger than the 5 GiB that S3 takes at once');
      const { status, body } = await ask('PUT', name, source);
      if (status !== 200) throw new Error(reasonOf(status, body));
    },
    async get(name) {
      const { status, body } = await ask('GET', name);
      if (status !== 200) throw new Error(reasonOf(status, body));
      return body;
    },
    async remove(name) {
      const { status, body } = await ask('DELETE', name);
      if (status !== 204 && status !== 200 && status !== 404) throw new Error(reasonOf(status, body));
    },
    async close() {},
  };
};
