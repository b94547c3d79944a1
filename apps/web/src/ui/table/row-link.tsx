import { Anchor } from '@mantine/core';
import { Link, type To } from 'react-router';

/** What a row is about, by its name, and the way to it. A long name takes a second line: by its end names differ as often as by its beginning. */
export const RowLink = ({ to, name }: { to: To; name: string }) => (
  <Anchor
    component={Link}
    to={to}
    className="foreign"
    inherit
    title={name}
    lineClamp={2}
    // A domain name fills its lines; words stay whole.
    style={{ whiteSpace: 'normal', lineHeight: 1.25, ...(name.includes(' ') ? {} : { wordBreak: 'break-all' }) }}
  >
    {name}
  </Anchor>
);
