import { Fragment, type ReactNode, useState } from 'react';
import { useCurrent } from '../../api/object.ts';
import { Problem } from '../problem.tsx';

interface FormObjectProps<T> {
  /** Where the API has it; undefined for a new one. */
  path: string | undefined;
  /** Its form. `etag`: the version that was read last, which `useObjectForm` holds against the one it began with. */
  children: (object: T | undefined, etag: string | undefined) => ReactNode;
}

/** Reads an object for its form. Once the form is there it stays, though the server may be gone for a while: nothing typed is lost. */
export const FormObject = <T,>({ path, children }: FormObjectProps<T>) => {
  const { answer, error } = useCurrent<T>(path);
  const [begun, setBegun] = useState<string>();
  if (path === undefined) return <Fragment key="new">{children(undefined, undefined)}</Fragment>;
  if (answer && !error && begun !== path) setBegun(path);
  if (answer && begun === path) return <Fragment key={path}>{children(answer.data, answer.etag)}</Fragment>;
  return <Problem error={error} />;
};
