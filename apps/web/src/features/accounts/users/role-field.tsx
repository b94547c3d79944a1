import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** What somebody, or a token, may do. */
export const RoleField = ({ description, ...props }: SelectProps) => {
  const { t } = useTranslation('accounts');
  return (
    <Select
      label={t('users.role')}
      description={description ?? t('users.roleAbout')}
      data={(['user', 'admin'] as const).map((value) => ({ value, label: t(`account.role.${value}`) }))}
      allowDeselect={false}
      comboboxProps={{ withinPortal: false }}
      {...props}
    />
  );
};
