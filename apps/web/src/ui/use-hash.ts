import { useLocation } from 'react-router';

/** What the address names on its page, as it reads; as it stands where it is no UTF-8. Empty: nothing. */
export const useHash = (): string => {
  const { hash } = useLocation();
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1);
  }
};
