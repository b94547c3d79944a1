/** Quotes a checked value for haproxy.cfg: plain words stay bare, anything else goes in strong quotes (manual 2.2). */
export const quote = (value: string): string => (/^[\w./:@,+=-]+$/.test(value) ? value : `'${value}'`);
