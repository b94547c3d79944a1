import { choice, RowId } from './primitives.ts';
import { type Static, Type } from './schema.ts';

const CertificateImportEntry = Type.Object(
  {
    file: Type.String(),
    outcome: choice(
      ['imported', 'present', 'same', 'authority', 'expired', 'superseded', 'locked', 'refused', 'unpaired', 'ignored'],
      {
        description:
          'imported; present: it is there already; same: belongs to a certificate that another file is told with; authority: helps to ' +
          'complete chains; expired and superseded: left; locked: the password of a PKCS #12 is missing or wrong; refused: can not be used; unpaired: the other half is missing; ignored: ' +
          'nothing in it.',
      },
    ),
    certificate_id: Type.Union([RowId, Type.Null()], { description: 'The certificate that it is now part of.' }),
    message: Type.String(),
  },
  { title: 'CertificateImportEntry' },
);
export type CertificateImportEntry = Static<typeof CertificateImportEntry>;

export const CertificateImport = Type.Object(
  {
    imported: Type.Integer({ minimum: 0, description: 'How many certificates are new.' }),
    files: Type.Array(CertificateImportEntry, {
      description: 'What became of each file; several for one that holds several.',
    }),
  },
  { title: 'CertificateImport' },
);
export type CertificateImport = Static<typeof CertificateImport>;
