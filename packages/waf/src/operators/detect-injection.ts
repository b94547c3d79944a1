import { injectionDetector } from './injection-detector.ts';
import { type OperatorInstance, ruleBytes } from './operator.ts';

/** @detectSQLi: libinjection takes the value for SQL injection; TX.0 becomes the fingerprint. */
export const compileDetectSqli = (): OperatorInstance => {
  const detector = injectionDetector();
  return {
    match(buf, start, end, context) {
      const [fingerprint] = detector.detectSqli([{ buf, start, end }]);
      if (fingerprint == null) return false;
      if (context.wantsCapture) context.capture(0, ruleBytes(fingerprint), 0, fingerprint.length);
      return true;
    },
  };
};

/** @detectXSS: libinjection finds script in the value; TX.0 becomes the value. */
export const compileDetectXss = (): OperatorInstance => {
  const detector = injectionDetector();
  return {
    match(buf, start, end, context) {
      if (detector.detectXss([{ buf, start, end }])[0] !== true) return false;
      if (context.wantsCapture) context.capture(0, buf, start, end);
      return true;
    },
  };
};
