/** What the sealed secret of an authenticator app is bound to. */
export const totpContext = (userId: number): string => `user:${userId}:totp`;
