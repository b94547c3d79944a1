const LONGEST = 600;
/** Shorter ones would black out half of a message, and are none that anybody could keep. */
const SHORTEST_SECRET = 4;
const MASK = '***';

/** Ways in which a program may repeat a value. */
const spellings = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
];

/** What a program or a server said, as it may be shown: on one line, bounded, none of the secrets in it. */
export const shownWords = (text: string, secrets: readonly string[]): string => {
  let shown = text;
  const all = secrets.filter((secret) => secret.length >= SHORTEST_SECRET).flatMap(spellings);
  // A long one may hold a short one.
  for (const secret of all.sort((a, b) => b.length - a.length)) shown = shown.replaceAll(secret, MASK);
  const line = shown
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\s{2,}/g, ' ')
    .trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
};
