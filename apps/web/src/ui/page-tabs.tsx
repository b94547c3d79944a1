import { Tabs } from '@mantine/core';
import { useLocation, useNavigate } from 'react-router';

interface PageTabsProps<Name extends string> {
  /** Each at an address of its own; the first one's is where the others' begin. */
  tabs: readonly { name: Name; path: string }[];
  labelOf: (name: Name) => string;
}

/** Parts of a screen beside each other; the address says which is open. */
export const PageTabs = <Name extends string>({ tabs, labelOf }: PageTabsProps<Name>) => {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const open = tabs.findLast(({ path }) => pathname === path || pathname.startsWith(`${path}/`)) ?? tabs[0];
  return (
    <Tabs
      value={open?.name ?? null}
      activateTabWithKeyboard={false}
      onChange={(name) => {
        const path = tabs.find((tab) => tab.name === name)?.path;
        if (path !== undefined) void navigate(path);
      }}
    >
      <Tabs.List>
        {tabs.map(({ name }) => (
          // On a phone four of them stand beside each other.
          <Tabs.Tab key={name} value={name} px={{ base: 8, xs: 'md' }}>
            {labelOf(name)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs>
  );
};
