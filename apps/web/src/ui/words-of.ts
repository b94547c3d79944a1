import i18next from 'i18next';
import { ApiError } from '../api/api-error.ts';

/** What went wrong, in a sentence or two: the server's own with what to do about it; ours where it was silent. */
export const wordsOf = (error: Error): string => {
  if (!(error instanceof ApiError)) return error.message;
  if (error.status === 0) return `${i18next.t('noAnswer')}. ${i18next.t('noAnswerHint')}`;
  return error.details === undefined ? error.message : `${error.message}: ${error.details}`;
};
