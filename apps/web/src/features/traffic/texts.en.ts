import { hosts } from './hosts/texts.en.ts';

export const traffic = {
  hosts,
  noMatch: 'Nothing here matches.',
  servers: {
    title: 'Remote servers',
    about: 'Machines that your sites run on, given a name once.',
    add: 'Add a server',
    address: 'Address',
    answers: '{{address}} takes connections',
    checked: 'Tested',
    enabled: 'Offered for use',
    host: 'Host name or address',
    name: 'Name',
    none: 'No remote server yet',
    noneAbout:
      'A remote server is a machine that several hosts forward to. Give it a name here, test whether it answers, and change its address in one place.',
    port: 'Port',
    provider: 'Runs on',
    reachable: 'Answers',
    remove: 'Delete {{name}}?',
    removeAbout: 'Hosts that use it keep it from being deleted. The history can bring it back.',
    removed: '{{name}} is deleted',
    saved: 'Saved',
    state: 'State',
    test: 'Test the connection',
    testOf: 'Test the connection to {{name}}',
    unchecked: 'Not tested',
    unreachable: 'No answer',
    usedBy_one: 'One host uses it',
    usedBy_other: '{{count}} hosts use it',
  },
} as const;
