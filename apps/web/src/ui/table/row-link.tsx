import { createContext, type MouseEvent, use, useCallback } from 'react';
import { useNavigate } from 'react-router';
import { Name } from '../name.tsx';
import classes from './row.module.css';

type Follow = (event: MouseEvent<HTMLAnchorElement>) => void;

/** What follows the links of a table's rows: one for all, since each `Link` of the router keeps a dozen things of its own. */
export const FollowRowLink = createContext<Follow | undefined>(undefined);

/** Follows a link within the interface. Those that shall open elsewhere are left to the browser. */
export const useFollow = (): Follow => {
  const navigate = useNavigate();
  return useCallback(
    (event) => {
      const { button, metaKey, altKey, ctrlKey, shiftKey } = event;
      if (button !== 0 || metaKey || altKey || ctrlKey || shiftKey) return;
      event.preventDefault();
      const { pathname, search, href } = event.currentTarget;
      // Who is there already has no second step to take back.
      void navigate({ pathname, search }, { replace: href === window.location.href });
    },
    [navigate],
  );
};

/** What a row of a `DataTable` is about, by its name, and the way to it. A long name takes a second line: by its end names differ as often as by its beginning. */
export const RowLink = ({ to, name }: { to: string; name: string }) => (
  <a href={to} onClick={use(FollowRowLink)} className={classes.link} title={name}>
    <Name>{name}</Name>
  </a>
);
