import { randomUUID } from 'node:crypto';
import type { Actor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { Refusal } from '@sallyport/store/errors';
import type { IncomingCertificate } from '../../host-intake.ts';
import { type CertificatePair, IN_WORDS, parseCertificatePair } from './pem.ts';
import type { Certificates } from './service.ts';
import type { CertificateStore } from './store.ts';

export interface BringInCertificatesDeps {
  store: (executor: Executor) => Pick<CertificateStore, 'idsByChain'>;
  create: Certificates['within']['create'];
  clock: () => Date;
}

const parsed = ({ certificatePem, keyPem }: IncomingCertificate): CertificatePair | Refusal => {
  try {
    return parseCertificatePair(certificatePem, keyPem, IN_WORDS);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
};

/** Why a certificate with its key would not be taken, in words; undefined when it would. */
export const certificateIssue = (certificate: IncomingCertificate): string | undefined => {
  const pair = parsed(certificate);
  return pair instanceof Refusal ? pair.message : undefined;
};

/** Takes certificates from elsewhere in, by the checks and entries of uploads: see `HostIntake.bringInCertificates`. */
export const createBringInCertificates =
  ({ store, create, clock }: BringInCertificatesDeps) =>
  async (
    tx: Executor,
    incoming: readonly IncomingCertificate[],
    actor: Actor,
  ): Promise<Map<string, number | Refusal>> => {
    const pairs = incoming.map((certificate) => ({ name: certificate.name, pair: parsed(certificate) }));
    const chains = pairs.flatMap(({ pair }) => (pair instanceof Refusal ? [] : pair.chainPem));
    const present = await store(tx).idsByChain(chains);
    const ids = new Map<string, number | Refusal>();
    for (const { name, pair } of pairs) {
      if (pair instanceof Refusal) {
        ids.set(name, pair);
        continue;
      }
      const { chainPem, keyPem, names, notBefore, notAfter } = pair;
      const known = present.get(chainPem);
      const fields = {
        uuid: randomUUID(),
        name,
        provider: 'custom',
        domains: names.join(','),
        chain_pem: chainPem,
        key_pem: keyPem,
        not_before: notBefore.toISOString(),
        expires_at: notAfter.toISOString(),
        is_placeholder: 0,
        created_at: clock().toISOString(),
      };
      const id = known ?? (await create(tx, fields, actor)).id;
      present.set(chainPem, id);
      ids.set(name, id);
    }
    return ids;
  };
