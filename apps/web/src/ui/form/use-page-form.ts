import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Answer } from '../../api/client.ts';
import { type ObjectForm, useObjectForm } from './use-object-form.ts';

/** The values that were changed: what is sent where only the fields given change. */
export const changedOf = <T extends Record<string, unknown>>(values: T, { form }: ObjectForm<T>): Partial<T> =>
  Object.fromEntries(Object.entries(values).filter(([field]) => form.isDirty(field))) as Partial<T>;

/**
 * A form that stands on a page and follows what is stored: another answer takes the place of the one it began with as soon as nothing
 * typed would be lost. `save` gets the version that was typed over; undefined: over any.
 */
export const usePageForm = <D, T extends Record<string, unknown>>(
  answer: Answer<D>,
  typedOf: (data: D) => T,
  save: (values: Partial<NoInfer<T>>, etag: string | undefined) => Promise<unknown>,
): ObjectForm<T> & { takeTheirs: () => void } => {
  const [base, setBase] = useState(answer);
  const object: ObjectForm<T> = useObjectForm(base.etag ?? '', typedOf(base.data), (values, isOverTheirs) =>
    save(changedOf(values, object), isOverTheirs ? undefined : base.etag),
  );
  const isBehind = answer.etag !== base.etag;
  useEffect(() => {
    if (isBehind && !object.form.isDirty()) setBase(answer);
  });
  const client = useQueryClient();
  const takeTheirs = () => {
    object.form.reset();
    void client.invalidateQueries();
  };
  return { ...object, takeTheirs };
};
