/** Whether a file is a PKCS #12, by its name: it may need a password. */
export const isPkcs12 = ({ name }: File): boolean => /\.(?:pfx|p12)$/i.test(name);
