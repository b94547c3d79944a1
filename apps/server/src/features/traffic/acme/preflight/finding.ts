import type { PreflightCheck } from '@sallyport/contract';

/** What a look showed of `subject`, and that it is fine. */
export const fine = (name: string, subject: string, message: string): PreflightCheck => ({
  name,
  subject,
  ok: true,
  message,
  fix: null,
  blocks: false,
});

interface Fault {
  message: string;
  fix: string;
  /** Whether it is certain that the authority would find the same. */
  isCertain: boolean;
}

/** What a look showed of `subject` that keeps, or may keep, an order from succeeding. */
export const fault = (name: string, subject: string, { message, fix, isCertain }: Fault): PreflightCheck => ({
  name,
  subject,
  ok: false,
  message,
  fix,
  blocks: isCertain,
});
