import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import type { AddressPolicy } from '../net/safe-fetch.ts';

export interface ReceivedDelivery {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * A real HTTPS server on loopback that stands for a public one: this process trusts its certificate, and `addressPolicy`
 * lets exactly its port be reached. `answer` gives the status of a delivery, or a promise that is settled later.
 */
export const startWebhookServer = async (answer: (delivery: ReceivedDelivery) => number | Promise<number>) => {
  const { certificate, key } = makeCertificate(['localhost']);
  setDefaultCACertificates([...rootCertificates, certificate]);
  const received: ReceivedDelivery[] = [];
  const server = createServer({ cert: certificate, key }, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', async () => {
      const delivery = { path: request.url ?? '', headers: request.headers, body };
      received.push(delivery);
      response.writeHead(await answer(delivery), { location: 'https://10.0.0.1/' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const addressPolicy: AddressPolicy = {
    isBlockedAddress: (address, to) => address !== '127.0.0.1' || to !== port,
    isBlockedName: () => false,
  };
  return {
    url: `https://localhost:${port}`,
    received,
    addressPolicy,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      setDefaultCACertificates([...rootCertificates]);
    },
  };
};
