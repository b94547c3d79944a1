import { TOTP } from 'otpauth';

/** The code that an authenticator app shows at this moment for the secret (base32) that it was given. */
export const shownCode = (secret: string, at: Date): string =>
  new TOTP({ secret, digits: 6, period: 30 }).generate({ timestamp: at.getTime() });
