import { parseArgs } from 'node:util';
import { UserError } from '@cinnabar/sdk';

/** What the command line asks for. */
export interface Arguments {
  readonly command: string;
  /** What follows the command, but for the options. */
  readonly operands: readonly string[];
  /** `--bot NAME` */
  readonly bot: string | undefined;
  /** `--bot-id ID`: the bot's user id on Discord, for `import`. */
  readonly botId: string | undefined;
  /** `--dry-run` */
  readonly dryRun: boolean;
  /** `--overwrite` */
  readonly overwrite: boolean;
}

/** @throws UserError for an option that there is not */
export function readArguments(args: readonly string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        bot: { type: 'string' },
        'bot-id': { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        overwrite: { type: 'boolean', default: false },
        version: { type: 'boolean', short: 'v' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const [first = 'start', ...operands] = positionals;
    const command = values.help ? 'help' : values.version ? 'version' : first;
    return {
      command,
      operands,
      bot: values.bot,
      botId: values['bot-id'],
      dryRun: values['dry-run'],
      overwrite: values.overwrite,
    };
  } catch (error) {
    // parseArgs says what is wrong in its first sentence, and how to escape a dash in the others.
    throw error instanceof TypeError ? new UserError(`${error.message.split('. ')[0]}.`, { cause: error }) : error;
  }
}
