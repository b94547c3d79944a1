/** INTEGER 3, the version of all of them, and the SEQUENCE that follows it. */
const VERSION_3 = Buffer.from([2, 1, 3, 0x30]);

/** Whether bytes begin as a PKCS #12 does. */
export const looksLikePkcs12 = (bytes: Buffer): boolean =>
  bytes[0] === 0x30 && bytes.subarray(2, 12).includes(VERSION_3);
