import { type Listen, localAddress } from '@sallyport/deployment/listen';
import { amiss, type Outcome, reasonOf, well } from './outcome.ts';

const ANSWER_WITHIN_MS = 2_000;
/** Its answer has a tenth of that. */
const MOST_BYTES = 1_024;

/** GETs `/health`, headers and body in time or not at all. Rejects with the reason. */
const askHealth = async (address: string): Promise<string> => {
  // Loaded by who asks: most processes never do.
  const { request } = await import('node:http');
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void =>
      reject(signal.aborted ? new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} seconds`) : error);
    const sent = request(`http://${address}/health`, { signal, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MOST_BYTES) response.destroy(new Error('its answer does not end'));
      });
      response.once('error', fail);
      response.once('end', () => resolve(text));
    });
    sent.once('error', fail).end();
  });
};

const isEmergencyServer = (text: string): boolean => {
  try {
    return (JSON.parse(text) as { server?: unknown } | null)?.server === 'emergency';
  } catch {
    return false;
  }
};

/** Whether the second tier's listener answers, on this machine. */
export const checkListener = async (bind: Listen | undefined): Promise<Outcome> => {
  if (!bind) {
    return amiss(
      'There is no second way in: set SALLYPORT_EMERGENCY_BIND, for example to 127.0.0.1:2020, and start Sallyport again',
    );
  }
  const address = localAddress(bind);
  try {
    if (isEmergencyServer(await askHealth(address))) return well(`The emergency server answers at ${address}`);
    return amiss(
      `Something else than the emergency server answers at ${address}: set SALLYPORT_EMERGENCY_BIND to a free port`,
    );
  } catch (error) {
    return amiss(
      `The emergency server does not answer at ${address} (${reasonOf(error)}): "sallyport status" and the log tell about its process`,
    );
  }
};
