import { useQueryClient } from '@tanstack/react-query';
import type { Answer } from '../../api/client.ts';
import { type ObjectForm, useObjectForm } from './use-object-form.ts';

/** The values that were changed: what is sent where only the fields given change. */
export const changedOf = <T extends Record<string, unknown>>(values: T, { form }: ObjectForm<T>): Partial<T> =>
  Object.fromEntries(Object.entries(values).filter(([field]) => form.isDirty(field))) as Partial<T>;

/**
 * A form that stands on a page and follows what is stored, see `useObjectForm`. `save` gets the version that was typed over.
 */
export const usePageForm = <D, T extends Record<string, unknown>>(
  answer: Answer<D>,
  typedOf: (data: D) => T,
  save: (values: Partial<NoInfer<T>>, etag: string | undefined) => Promise<unknown>,
): ObjectForm<T> & { takeTheirs: () => void } => {
  const object: ObjectForm<T> = useObjectForm(
    '',
    typedOf(answer.data),
    (values, etag) => save(changedOf(values, object), etag),
    answer.etag,
  );
  const client = useQueryClient();
  const takeTheirs = () => {
    object.form.reset();
    void client.invalidateQueries();
  };
  return { ...object, takeTheirs };
};
