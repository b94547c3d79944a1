import { hash } from 'node:crypto';

/** SHA-256 of a random secret, base64url: what is stored or looked up in its place. Not for passwords, which can be guessed. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'base64url');
