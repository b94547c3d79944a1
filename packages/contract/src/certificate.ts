import { usedBy } from './host-uses.ts';
import { choice, RowId, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';

const identity = {
  id: RowId,
  uuid: Uuid,
  name: Type.String(),
  provider: choice(['custom', 'letsencrypt', 'internal'], {
    description: 'Where it came from: uploaded (custom), ordered (letsencrypt) or made here (internal).',
  }),
  domains: Type.String({ description: 'Comma-separated names the certificate is valid for.' }),
};

export const Certificate = Type.Object(
  {
    ...identity,
    expires_at: Timestamp,
    created_at: Timestamp,
    applied: Type.Boolean({ description: 'The proxy holds it, as read back from it.' }),
    issue: Type.Union([Type.String(), Type.Null()], { description: 'Why the proxy lacks it, or what to attend to.' }),
  },
  { title: 'Certificate' },
);
export type Certificate = Static<typeof Certificate>;

export const CertificateInUse = Type.Object(
  { ...Certificate.properties, ...usedBy },
  { title: 'CertificateInUse', description: 'A certificate with the proxy hosts that are served with it.' },
);
export type CertificateInUse = Static<typeof CertificateInUse>;

export const UploadedCertificate = Type.Object(
  {
    ...identity,
    warning: Type.Optional(
      Type.String({
        description: 'Present when it is expired or not yet valid, or when the proxy does not hold it (yet).',
      }),
    ),
  },
  { title: 'UploadedCertificate' },
);
export type UploadedCertificate = Static<typeof UploadedCertificate>;
