import { createCipheriv, createHmac, createPrivateKey, hash, randomBytes, X509Certificate } from 'node:crypto';
import {
  type BaseBlock,
  BmpString,
  Constructed,
  Integer,
  Null,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
  Set as SetOf,
} from 'asn1js';
import { createRounds, derivePbkdf2, derivePkcs12, PURPOSE } from './derive.ts';
import { AES_CBC, BAG, CONTENT, HASH, HMAC, SCHEME, X509 } from './oids.ts';

/** Twice what Java asks for. Each is done three times. */
const ITERATIONS = 20_000;
const SALT_BYTES = 16;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

const seq = (...value: BaseBlock[]): Sequence => new Sequence({ value });
const oid = (value: string): ObjectIdentifier => new ObjectIdentifier({ value });
const int = (value: number): Integer => new Integer({ value });
const octets = (valueHex: Buffer): OctetString => new OctetString({ valueHex: new Uint8Array(valueHex).buffer });
const tagged = (value: BaseBlock): Constructed =>
  new Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [value] });
const der = (value: BaseBlock): Buffer => Buffer.from(value.toBER());

const data = (content: Buffer): Sequence => seq(oid(CONTENT.data), tagged(octets(content)));

/** AES-256 in CBC under PBKDF2 with SHA-256 (PBES2): what Windows since 2018, OpenSSL and Java read. */
const encrypt = (plain: Buffer, password: string): { algorithm: Sequence; encrypted: Buffer } => {
  const salt = randomBytes(SALT_BYTES);
  const iv = randomBytes(16);
  const derivation = { digest: 'sha256', salt, iterations: ITERATIONS } as const;
  const key = derivePbkdf2(Buffer.from(password), derivation, 32, createRounds().forFile());
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  const hmac = seq(oid(HMAC.sha256), new Null());
  const pbkdf2 = seq(oid(SCHEME.pbkdf2), seq(octets(salt), int(ITERATIONS), hmac));
  const aes = seq(oid(AES_CBC[256]), octets(iv));
  return {
    algorithm: seq(oid(SCHEME.pbes2), seq(pbkdf2, aes)),
    encrypted: Buffer.concat([cipher.update(plain), cipher.final()]),
  };
};

const encryptedData = (content: Buffer, password: string): Sequence => {
  const { algorithm, encrypted } = encrypt(content, password);
  const inside = new Primitive({ idBlock: { tagClass: 3, tagNumber: 0 }, valueHex: new Uint8Array(encrypted).buffer });
  const contents = seq(oid(CONTENT.data), algorithm, inside);
  return seq(oid(CONTENT.encrypted), tagged(seq(int(0), contents)));
};

const attribute = (kind: string, value: BaseBlock): Sequence => seq(oid(kind), new SetOf({ value: [value] }));

/** By them Windows and Java find the certificate of a key, and call both. Names are of characters of two bytes. */
const attributesOf = (name: string, leaf: Buffer): SetOf => {
  const plain = Array.from(name, (character) => (character.length === 1 ? character : '\ufffd')).join('');
  return new SetOf({
    value: [
      attribute('1.2.840.113549.1.9.20', new BmpString({ value: plain })),
      attribute('1.2.840.113549.1.9.21', octets(hash('sha1', leaf, 'buffer'))),
    ],
  });
};

const certificateBag = (certificate: Buffer, attributes: readonly SetOf[]): Sequence => {
  const bag = seq(oid(X509), tagged(octets(certificate)));
  return seq(oid(BAG.certificate), tagged(bag), ...attributes);
};

/** The protection of integrity that all of them check: HMAC of SHA-256 under the derivation of RFC 7292. */
const macOf = (contents: Buffer, password: string): Sequence => {
  const salt = randomBytes(SALT_BYTES);
  const derivation = { digest: 'sha256', salt, iterations: ITERATIONS } as const;
  const utf16 = Buffer.from(`${password}\0`, 'utf16le').swap16();
  const key = derivePkcs12(utf16, derivation, PURPOSE.mac, 32, createRounds().forFile());
  const digest = seq(oid(HASH.sha256), new Null());
  return seq(seq(digest, octets(createHmac('sha256', key).update(contents).digest())), octets(salt), int(ITERATIONS));
};

/**
 * Makes a PKCS #12 file (RFC 7292) of a chain and its key, both PEM, for Windows and Java. `password`: of printable ASCII, for which all
 * programs have the same bytes.
 */
export const writePkcs12 = (
  { name, chainPem, keyPem }: { name: string; chainPem: string; keyPem: string },
  password: string,
): Buffer => {
  const chain = (chainPem.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem).raw);
  const [leaf] = chain;
  if (!leaf) throw new Error('there is no certificate to write');
  const attributes = attributesOf(name, leaf);
  const bags = chain.map((one) => certificateBag(one, one === leaf ? [attributes] : []));
  const key = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  const { algorithm, encrypted } = encrypt(key, password);
  const shrouded = tagged(seq(algorithm, octets(encrypted)));
  const keyBag = seq(oid(BAG.shroudedKey), shrouded, attributes);
  const contents = der(seq(encryptedData(der(seq(...bags)), password), data(der(seq(keyBag)))));
  return der(seq(int(3), data(contents), macOf(contents, password)));
};
