import { join } from 'node:path';
import { nameHere } from './bot-name.js';
import type { Findings } from './findings.js';
import { listing } from './listing.js';
import type { ImportSource, SourceFile } from './source.js';

const CONFIG_NAMES = ['config.yaml', 'config.yml', 'config.json'];
/** Where versions of that program kept its bots; the folder itself when it is one of those. */
const HOMES = ['ems', 'people', '.'];
/** It had its models continue one text. */
const IMPLIED = { mode: 'prefill' };

/** `ems/config.yaml` for all, `ems/{bot}/config.yaml` for one, its token beside it in `discord_token`. */
export function findChapter2(dir: string, findings: Findings): ImportSource {
  const homes = HOMES.filter((home) => listing(join(dir, home)).folders.some((bot) => configIn(join(dir, home, bot))));
  const [home] = homes;
  if (home === undefined) return { files: [], tools: [] };
  const shared = configIn(join(dir, home));
  const bots = listing(join(dir, home)).folders.flatMap((theirs): readonly SourceFile[] => {
    const name = configIn(join(dir, home, theirs));
    const shown = [home, theirs, name ?? ''].filter((part) => part !== '.').join('/');
    const bot = name === undefined ? undefined : nameHere(theirs, shown, findings);
    if (bot === undefined || name === undefined) return [];
    if (listing(join(dir, home, theirs)).files.includes('discord_token')) {
      findings.secret('DISCORD_TOKEN', `.env.${bot}`, `${shown.replace(name, 'discord_token')}`);
    }
    return [{ path: join(dir, home, theirs, name), shown, target: join('bots', `${bot}.yaml`), bot, implied: IMPLIED }];
  });
  const all =
    shared === undefined
      ? []
      : [
          {
            path: join(dir, home, shared),
            shown: [home, shared].filter((part) => part !== '.').join('/'),
            target: 'shared.yaml',
            bot: undefined,
          },
        ];
  return {
    files: [...all, ...bots],
    tools: listing(join(dir, 'tools')).folders.map((bot) => ({ bot, folder: join(dir, 'tools', bot) })),
  };
}

function configIn(folder: string): string | undefined {
  const { files } = listing(folder);
  return CONFIG_NAMES.find((name) => files.includes(name));
}
