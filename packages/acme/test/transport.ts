import { request } from 'node:https';
import { AcmeProtocolError, type AcmeResponse, type AcmeTransport, limits } from '../src/index.ts';

/** The plainest transport there can be: Node's own HTTPS client, which trusts `ca` alone. */
export const httpsTransport =
  (ca: string): AcmeTransport =>
  ({ method, url, headers, body, signal }) =>
    new Promise<AcmeResponse>((resolve, reject) => {
      const asked = request(url, { method, headers, ca, signal, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
          if (text.length <= limits.answerBytes) return;
          reject(new AcmeProtocolError(url, `the answer is larger than ${limits.answerBytes} bytes`));
          asked.destroy();
        });
        response.once('error', reject);
        response.once('end', () => {
          const answered = new Headers(
            Object.entries(response.headers).map(([name, value]): [string, string] => [
              name,
              [value].flat().join(', '),
            ]),
          );
          resolve({ status: response.statusCode ?? 0, headers: answered, body: text });
        });
      });
      asked.once('error', reject).end(body);
    });
