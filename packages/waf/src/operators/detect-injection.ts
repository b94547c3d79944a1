import { detectScript } from './html/detect-script.ts';
import { type OperatorInstance, ruleBytes } from './operator.ts';
import { detectSqlInjection } from './sql/detect-sql-injection.ts';

/** @detectSQLi: the value is SQL injection; TX.0 becomes its fingerprint. */
export const compileDetectSqli = (): OperatorInstance => ({
  match(buf, start, end, context) {
    context.budget.units -= (end - start) * 2;
    const fingerprint = detectSqlInjection(buf, start, end);
    if (fingerprint === null) return false;
    if (context.wantsCapture) context.capture(0, ruleBytes(fingerprint), 0, fingerprint.length);
    return true;
  },
});

/** @detectXSS: the value would run script in a page; TX.0 becomes the value. */
export const compileDetectXss = (): OperatorInstance => ({
  match(buf, start, end, context) {
    context.budget.units -= (end - start) * 2;
    if (!detectScript(buf, start, end)) return false;
    if (context.wantsCapture) context.capture(0, buf, start, end);
    return true;
  },
});
