import { type UseFormReturnType, useForm } from '@mantine/form';
import { useEffect, useState } from 'react';
import { ApiError, fieldOf } from '../../api/api-error.ts';
import { wordsOf } from '../words-of.ts';
import { useUnsaved } from './unsaved.ts';

/** Another one changed the object while this form was open: what it was changed to. */
export interface Overtaken<T> {
  current: Partial<T>;
  /** What `If-Match` names to go over that, and over nothing newer. */
  version: string;
}

export interface ObjectForm<T extends Record<string, unknown>> {
  form: UseFormReturnType<T>;
  /** What is wrong with no field in particular. */
  problem: Error | undefined;
  overtaken: Overtaken<T> | undefined;
  isSaving: boolean;
  /** Sends what was typed; resolves to whether it was taken. Nothing that was typed is lost when it was not. */
  submit: () => Promise<boolean>;
  /** After a conflict: takes their value of every field that was not touched here, and lets it be saved over theirs. */
  goOn: () => void;
}

/** Whether two versions hold the same for a form, whatever else of the object differs. */
const isAlike = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * A form over an object of the API. `save` sends it, as a change of the version it is given; what the server refuses is shown at its field, a 412 as `overtaken`.
 * `initial` is taken anew whenever `key` changes. `version` (the ETag that `initial` was read with) makes it follow what is stored: what else is
 * done to the object beside the form, by oneself or by others, is no conflict, and a field that was changed is one only when something typed would be
 * lost by taking it.
 */
export const useObjectForm = <T extends Record<string, unknown>>(
  key: string,
  initial: T,
  save: (values: T, version: string | undefined) => Promise<unknown>,
  version?: string,
): ObjectForm<T> => {
  const form = useForm<T>({ mode: 'controlled', initialValues: initial });
  /** What the form began with. */
  const [base, setBase] = useState({ version, initial });
  const [problem, setProblem] = useState<Error>();
  const [overtaken, setOvertaken] = useState<Overtaken<T>>();
  /** Their version, which may be gone over. */
  const [over, setOver] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const [fault, setFault] = useState<{ field: string }>();

  const begin = () => {
    form.setInitialValues(initial);
    form.setValues(initial);
    form.clearErrors();
    form.resetDirty(initial);
    setBase({ version, initial });
    setProblem(undefined);
    setOvertaken(undefined);
    setOver(undefined);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another object is another key
  useEffect(begin, [key]);

  const isMoved = version !== base.version;
  const isElsewhere = isMoved && version !== undefined && !isAlike(initial, base.initial);
  useEffect(() => {
    if (!isMoved) return;
    if (!isElsewhere) setBase({ version, initial });
    else if (!form.isDirty()) begin();
  });

  useUnsaved(() => form.isDirty());

  // In a long form the field may be out of sight, in a group that opens now; of two forms in a page, that of the drawer is the last.
  useEffect(() => {
    if (!fault) return;
    const frame = requestAnimationFrame(() => {
      const fields = document.querySelectorAll<HTMLElement>(`[data-path="${CSS.escape(fault.field)}"]`);
      [...fields].at(-1)?.focus();
    });
    return () => cancelAnimationFrame(frame);
  }, [fault]);

  const overtakenBy = (refused: unknown): Overtaken<T> | undefined =>
    refused instanceof ApiError && refused.status === 412 && refused.current !== undefined
      ? { current: refused.current as Partial<T>, version: refused.etag ?? '*' }
      : undefined;

  const submit = async (): Promise<boolean> => {
    setProblem(undefined);
    form.clearErrors();
    if (isElsewhere && over === undefined) {
      setOvertaken({ current: initial, version });
      return false;
    }
    setSaving(true);
    try {
      const values = form.getValues();
      await save(values, over ?? version).catch((refused: unknown) => {
        const theirs = over === undefined ? overtakenBy(refused) : undefined;
        const isOther =
          theirs && Object.entries(base.initial).every(([field, was]) => isAlike(theirs.current[field], was));
        // What was changed in between is no field of this form: another one of this page was saved a moment ago.
        if (isOther) return save(values, theirs.version);
        throw refused;
      });
      form.resetDirty(values);
      return true;
    } catch (error) {
      const refused = error as Error;
      const field = refused instanceof ApiError ? fieldOf(refused.message, Object.keys(form.getValues())) : undefined;
      const theirs = overtakenBy(refused);
      if (theirs) setOvertaken(theirs);
      else if (field !== undefined) {
        form.setFieldError(field, wordsOf(refused));
        setFault({ field });
      } else setProblem(refused);
      return false;
    } finally {
      setSaving(false);
    }
  };

  const goOn = (): void => {
    if (!overtaken) return;
    for (const [field, theirs] of Object.entries(overtaken.current)) {
      if (field in form.getValues() && !form.isDirty(field)) form.setFieldValue(field, theirs as never);
    }
    setOvertaken(undefined);
    setOver(overtaken.version);
  };

  return { form, problem, overtaken, isSaving, submit, goOn };
};
