import { Select } from '@mantine/core';
import type { Container } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../../api/query.ts';
import { labelOf, originsOf } from './container-origins.ts';
import { useHostParts } from './host-fields.tsx';

const MOST_CHOICES = 100;

/** Fills in the origin from a container that runs. Where there is no Docker, or it does not answer, there is nothing to see. */
export const ContainerChoice = () => {
  const { t } = useTranslation('traffic');
  const { form, isAdmin } = useHostParts();
  const { data = [] } = useRead<Container[]>('/containers', { isOn: isAdmin, retry: false });
  const choices = data.flatMap((container) =>
    originsOf(container).map((origin, index) => ({ value: `${container.id} ${index}`, container, origin })),
  );
  if (choices.length === 0) return null;
  const { forward_host, forward_port, name } = form.getValues();
  const chosen = choices.find(
    ({ origin }) => origin.forward_host === forward_host && [forward_port, ''].includes(origin.forward_port),
  );
  const take = (value: string | null): void => {
    const choice = choices.find((one) => one.value === value);
    if (!choice) return;
    const { forward_port: told, ...origin } = choice.origin;
    form.setValues({
      ...origin,
      forward_port: told === '' ? forward_port : told,
      remote_server_id: null,
      name: name === '' ? choice.container.name : name,
    });
  };
  return (
    <Select
      label={t('hosts.container')}
      description={t('hosts.containerAbout')}
      placeholder={t('hosts.containerNone')}
      searchable
      allowDeselect={false}
      limit={MOST_CHOICES}
      data={choices.map(({ value, container, origin }) => ({ value, label: labelOf(container, origin) }))}
      value={chosen?.value ?? null}
      onChange={take}
    />
  );
};
