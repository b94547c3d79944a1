import { Anchor, List, Text } from '@mantine/core';
import type { CertificateUses } from '@sallyport/contract';
import { Link } from 'react-router';

/** Certificates that something is needed for, each one click away. */
export const UsedByCertificates = ({ title, uses }: { title: string; uses: CertificateUses }) =>
  uses.used_by_total === 0 ? null : (
    <div>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <List size="sm">
        {uses.used_by.map(({ uuid, name }) => (
          <List.Item key={uuid}>
            <Anchor component={Link} to={`/certificates/${uuid}`} size="sm" className="foreign">
              {name}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </div>
  );
