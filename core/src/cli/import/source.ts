import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { botNameProblem, isSnowflake } from '../../config/host-config.js';
import type { Findings } from './report.js';

/** What was found of another program, in its own words. */
export interface ImportSource {
  readonly files: readonly SourceFile[];
  /** Folders of tool calls: `{channel}/{YYYY-MM-DD-HH}.jsonl` inside. */
  readonly tools: readonly { readonly bot: string; readonly folder: string }[];
}

export interface SourceFile {
  readonly path: string;
  /** Path inside the folder that is imported: for messages. */
  readonly shown: string;
  /** Where it goes, relative to the folder of the configuration. */
  readonly target: string;
  /** The bot it is about, if about one. */
  readonly bot: string | undefined;
  /** What holds there without being said. */
  readonly implied?: Readonly<Record<string, unknown>>;
}

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

/** The user id that a bot's token begins with, in base64. */
export function idInToken(token: string | undefined): string | undefined {
  const [first = ''] = token?.split('.') ?? [];
  const id = Buffer.from(first, 'base64').toString('latin1');
  return isSnowflake(id) ? id : undefined;
}

/** A bot's name as `--bot` takes it. */
export function nameHere(theirs: string, shown: string, findings: Findings): string | undefined {
  const name = theirs.trim().replace(/[^A-Za-z0-9_.-]+/g, '-');
  const problem = botNameProblem(name);
  if (problem !== undefined) {
    findings.leftOut(`${shown}: the bot's name ${problem}`);
    return undefined;
  }
  if (name !== theirs) findings.note(`${shown}: the bot is called ${name} here`);
  return name;
}

/** The folders and files directly below a folder that is somebody else's; links are left alone. Empty when there is no such folder. */
export function listing(folder: string): { readonly folders: readonly string[]; readonly files: readonly string[] } {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
    return {
      folders: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
      files: entries.filter((entry) => entry.isFile()).map(({ name }) => name),
    };
  } catch {
    return { folders: [], files: [] };
  }
}
