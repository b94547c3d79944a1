/** Why an action of ModSecurity's reference is refused. */
export const refusedActions: ReadonlyMap<string, string> = new Map([
  ['append', 'responses are not rewritten'],
  ['prepend', 'responses are not rewritten'],
  ['deprecatevar', 'ModSecurity 3 does not support it either; use expirevar'],
  ['exec', 'no process or script is started'],
  ['pause', 'holding connections helps an attacker more than it hinders one; use a rate limit'],
  ['proxy', 'requests are routed by the data plane; use redirect or deny'],
]);
