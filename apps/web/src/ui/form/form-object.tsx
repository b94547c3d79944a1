import { Fragment, type ReactNode, useState } from 'react';
import { useCurrent } from '../../api/object.ts';
import { Problem } from '../problem.tsx';

interface FormObjectProps<T> {
  /** Where the API has it; undefined for a new one. */
  path: string | undefined;
  /**
   * Its form. `etag`: the version that the form began with; what is saved is a change of that one, whatever was read behind the form since.
   */
  children: (object: T | undefined, etag: string | undefined) => ReactNode;
}

/** Reads an object for its form. Once the form is there it stays, though the server may be gone for a while: nothing typed is lost. */
export const FormObject = <T,>({ path, children }: FormObjectProps<T>) => {
  const { answer, error } = useCurrent<T>(path);
  const [begun, setBegun] = useState<{ path: string; etag: string | undefined }>();
  if (path === undefined) return <Fragment key="new">{children(undefined, undefined)}</Fragment>;
  if (answer && !error && begun?.path !== path) setBegun({ path, etag: answer.etag });
  if (answer && begun?.path === path) return <Fragment key={path}>{children(answer.data, begun.etag)}</Fragment>;
  return <Problem error={error} />;
};
