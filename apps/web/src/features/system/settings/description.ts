import type { DescribedSetting } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';

/** What settings do, in the reader's language where it is told there, else in the server's. */
export const useDescription = (): ((setting: DescribedSetting) => string) => {
  const { i18n } = useTranslation();
  const told = i18n.getResource(i18n.resolvedLanguage ?? 'en', 'system', 'described') as
    | Readonly<Record<string, string>>
    | undefined;
  return ({ key, description }) => told?.[key] ?? description;
};
