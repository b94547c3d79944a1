import { latin1 } from '../bytes/bytes.ts';
import type { Transaction } from '../model/transaction.ts';

/** Request line and headers as HTTP/1 writes them, with the empty line that ends them. */
const headOf = ({ request: { method, uri, httpVersion, headers } }: Transaction): string => {
  const line = `${latin1(method)} ${latin1(uri)} ${latin1(httpVersion)}`;
  return [line, ...headers.map(([name, value]) => `${latin1(name)}: ${latin1(value)}`), '', ''].join('\r\n');
};

/** The request as a whole, one char for each byte; the body is the part that is inspected, from phase 2 on. */
export const fullRequestVariables = {
  FULL_REQUEST: (tx: Transaction): string => {
    const text = headOf(tx) + latin1(tx.body.bytes);
    // It may be long, and each rule that looks at it has it made again.
    tx.budget.units -= text.length;
    return text;
  },
  FULL_REQUEST_LENGTH: (tx: Transaction): number => headOf(tx).length + tx.body.bytes.length,
} as const;
