/** As much of a text as fits into a message. */
export const shorten = (text: string, most = 80): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
