import { join } from 'node:path';
import { isSnowflake } from '../../config/names.js';
import { nameHere } from './bot-name.js';
import type { Findings } from './findings.js';
import { listing } from './listing.js';
import type { ImportSource, SourceFile } from './source.js';

/** `config/shared.yaml`, `config/guilds/{guild}.yaml`, `config/bots/{bot}[-{guild}].yaml`, `tools/{bot}/{channel}/{hour}.jsonl`. */
export function findChapter3(dir: string, findings: Findings): ImportSource {
  const file = (shown: string, target: string, bot?: string): SourceFile => ({
    path: join(dir, shown),
    shown,
    target,
    bot,
  });
  const shared = listing(join(dir, 'config')).files.filter((name) => name === 'shared.yaml');
  const guilds = listing(join(dir, 'config', 'guilds')).files.flatMap((name) => {
    const shown = `config/guilds/${name}`;
    if (isSnowflake(name.replace(/\.yaml$/, ''))) return [file(shown, join('guilds', name))];
    findings.leftOut(`${shown}: its name is not that of a guild's file`);
    return [];
  });
  const bots = listing(join(dir, 'config', 'bots')).files.flatMap((name) => {
    const shown = `config/bots/${name}`;
    const [, theirs = '', guild] = /^(.*?)(-\d{15,22})?\.yaml$/.exec(name) ?? [];
    const bot = nameHere(theirs, shown, findings);
    return bot === undefined ? [] : [file(shown, join('bots', `${bot}${guild ?? ''}.yaml`), bot)];
  });
  return {
    files: [...shared.map((name) => file(`config/${name}`, name)), ...guilds, ...bots],
    tools: listing(join(dir, 'tools')).folders.map((bot) => ({ bot, folder: join(dir, 'tools', bot) })),
  };
}
