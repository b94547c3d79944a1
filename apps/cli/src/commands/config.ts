import { Command } from 'commander';
import { loadConfig } from '../load-config.ts';
import { print } from '../print.ts';

const check = () =>
  new Command('check')
    .description('check the configuration that the server would start with')
    .action((_options: object, command: Command) => {
      const { dataDir } = loadConfig(command);
      print(`the configuration is valid (data directory ${dataDir})`);
    });

/** `sallyport config …` */
export const configCommand = (): Command => new Command('config').description('the configuration').addCommand(check());
