import { isAbsolute, join, resolve } from 'node:path';
import { createSystemClock } from '../../clock/system-clock.js';
import type { HostConfig } from '../../config/host-config.js';
import { shownPath } from '../../config/layout.js';
import { isSnowflake } from '../../config/names.js';
import { lockData } from '../../data-lock/lock.js';
import type { Arguments } from '../arguments.js';
import { idInToken } from './bot-id.js';
import { nameHere } from './bot-name.js';
import type { Findings } from './findings.js';
import type { Written } from './report.js';
import type { ImportSource } from './source.js';
import { moveHistory } from './tool-history.js';

type Options = Pick<Arguments, 'bot' | 'botId' | 'dryRun'>;
type ConfigOf = (bot: string | undefined) => HostConfig;

/** Takes over the tool calls of every bot that has some. */
export async function moveCalls(
  source: ImportSource,
  configOf: ConfigOf,
  options: Options,
  findings: Findings,
): Promise<Written['calls']> {
  const moved: Written['calls'][number][] = [];
  for (const { bot: theirs, folder } of source.tools) {
    const shown = `tools/${theirs}`;
    const owner = ownerOf(theirs, source, configOf, options, findings);
    if (owner === undefined) continue;
    const { root, dataDir, env } = owner.config;
    const kept = env.TOOLS_PATH || join(dataDir, 'tools');
    const to = join(isAbsolute(kept) ? kept : resolve(root, kept), owner.id);
    const lock = options.dryRun ? undefined : await lockData(dataDir, createSystemClock());
    try {
      const count = await moveHistory({ from: folder, to, shown, dryRun: options.dryRun }, findings);
      if (count > 0) moved.push({ bot: theirs, folder: shownPath(root, to), count });
    } finally {
      lock?.release();
    }
  }
  return moved;
}

interface Owner {
  /** User id on Discord. */
  readonly id: string;
  readonly config: HostConfig;
}

/** Whose a folder of calls is here: its name is a bot's name or its user id. */
function ownerOf(
  theirs: string,
  { files, tools }: ImportSource,
  configOf: ConfigOf,
  { bot: chosen, botId }: Options,
  findings: Findings,
): Owner | undefined {
  const bots = new Set(files.map(({ bot }) => bot).filter((bot) => bot !== undefined));
  const [only] = bots.size === 1 ? bots : [];
  if (isSnowflake(theirs)) return { id: theirs, config: configOf(chosen ?? only) };
  const name = nameHere(theirs, `tools/${theirs}`, findings);
  if (name === undefined) return undefined;
  const config = configOf(name);
  const id = idInToken(config.token) ?? (tools.length === 1 ? botId : undefined);
  if (id !== undefined) return { id, config };
  const otherWay = tools.length === 1 ? ', or say its user id with --bot-id' : '';
  findings.conflict(
    `tools/${theirs}: nobody knows yet which bot made these calls. Set its DISCORD_TOKEN in .env.${name}${otherWay}; then import again`,
  );
  return undefined;
}
