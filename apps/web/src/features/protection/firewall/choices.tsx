import { Radio, Stack } from '@mantine/core';

interface ChoicesProps<V extends string> {
  label: string;
  description?: string;
  /** What can be chosen, and what each costs or means. */
  choices: readonly { value: V; label: string; about: string }[];
  value: string;
  error?: unknown;
  onChange: (value: V) => void;
}

/** One of a few, each with what it means: for whoever decides, not for whoever knows already. */
export const Choices = <V extends string>({ label, description, choices, value, error, onChange }: ChoicesProps<V>) => (
  <Radio.Group
    label={label}
    description={description}
    value={value}
    error={typeof error === 'string' ? error : undefined}
    onChange={(chosen) => onChange(chosen as V)}
  >
    <Stack gap="xs" mt="xs">
      {choices.map((choice) => (
        <Radio key={choice.value} value={choice.value} label={choice.label} description={choice.about} />
      ))}
    </Stack>
  </Radio.Group>
);
