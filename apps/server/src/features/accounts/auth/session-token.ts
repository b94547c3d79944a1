import { createHash, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import type { Role } from '@sallyport/contract';

export interface SessionClaims {
  userId: number;
  sessionId: string;
}

export interface IssuedToken extends SessionClaims {
  /** For the client's eyes only: the server looks at the user's live role. */
  role: Role;
  issuedAt: Date;
  expiresAt: Date;
}

/** Clocks of several nodes may differ by this much. */
const CLOCK_TOLERANCE_SECONDS = 5;
const ISSUER = 'sallyport';

const seconds = (moment: Date): number => Math.floor(moment.getTime() / 1000);

/**
 * Signs and reads session tokens: JWT, HS256 only (contract.md, Authentication).
 * Without a secret the key is random, and every session ends with the process (spec, Authentication 4).
 */
export const createSessionTokens = (secret: string | undefined, clock: () => Date) => {
  const material = secret ?? randomBytes(32);
  const bytes = Buffer.from(hkdfSync('sha256', material, '', 'sallyport sessions', 32));
  const key = createSecretKey(bytes);
  return {
    /** Names the key without revealing it. */
    keyId: createHash('sha256').update(bytes).digest('hex').slice(0, 16),

    async sign({ userId, sessionId, role, issuedAt, expiresAt }: IssuedToken): Promise<string> {
      const { SignJWT } = await import('jose');
      return new SignJWT({ role, sid: sessionId })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(ISSUER)
        .setSubject(String(userId))
        .setIssuedAt(seconds(issuedAt))
        .setExpirationTime(seconds(expiresAt))
        .sign(key);
    },

    /** Returns undefined for a token that is not ours, not signed by this key, expired, or from the future. */
    async read(token: string): Promise<SessionClaims | undefined> {
      const { jwtVerify } = await import('jose');
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          issuer: ISSUER,
          typ: 'JWT',
          requiredClaims: ['sub', 'sid', 'iat', 'exp'],
          currentDate: clock(),
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          maxTokenAge: '24h',
        });
        const userId = Number(payload.sub);
        const { sid } = payload;
        return Number.isSafeInteger(userId) && typeof sid === 'string' ? { userId, sessionId: sid } : undefined;
      } catch {
        return undefined;
      }
    },
  };
};
export type SessionTokens = ReturnType<typeof createSessionTokens>;
