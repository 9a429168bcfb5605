import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { makeFolder, replaceFile, z } from '@cinnabar/sdk';
import { createSystemClock } from '../../clock/clock.js';
import { isSnowflake, shownPath } from '../../config/configuration.js';
import type { HostConfig } from '../../config/host-config.js';
import { lockData } from '../../data-lock/lock.js';
import type { Arguments } from '../discord.js';
import { type ImportSource, idInToken, listing, nameHere } from './convert.js';
import type { Findings, Written } from './import.js';

type Options = Pick<Arguments, 'bot' | 'botId' | 'dryRun'>;
type ConfigOf = (bot: string | undefined) => HostConfig;

/** Imports the tool calls of every bot that has some. */
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

/** The bot here that a folder of calls belongs to: the folder's name is a bot's name or its user id. */
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
    `tools/${theirs}: it is not known yet which bot made these calls. Set its DISCORD_TOKEN in .env.${name}${otherWay}; then import again`,
  );
  return undefined;
}

const HOUR_FILE = /^\d{4}-\d{2}-\d{2}-\d{2}\.jsonl$/;

interface HistoryMove {
  /** Folder with a folder for each channel. */
  readonly from: string;
  /** The same here. */
  readonly to: string;
  /** For messages. */
  readonly shown: string;
  readonly dryRun: boolean;
}

/** Adds the tool calls of another program to the stored ones, except those that are stored already. @returns how many were added */
async function moveHistory({ from, to, shown, dryRun }: HistoryMove, findings: Findings): Promise<number> {
  let moved = 0;
  for (const channel of listing(from).folders) {
    if (!isSnowflake(channel)) {
      findings.leftOut(`${shown}/${channel}: its name is not that of a channel's folder`);
      continue;
    }
    for (const name of listing(join(from, channel)).files) {
      if (!HOUR_FILE.test(name))
        findings.leftOut(`${shown}/${channel}/${name}: its name is not that of an hour's file`);
      else moved += await moveHour(join(channel, name));
    }
  }
  return moved;

  async function moveHour(file: string): Promise<number> {
    const { lines, damaged } = linesOf(readFileSync(join(from, file), 'utf8'));
    if (damaged > 0) findings.leftOut(`${shown}/${file}: ${damaged} of its lines cannot be read`);
    const target = join(to, file);
    const before = existsSync(target) ? readFileSync(target, 'utf8') : '';
    const there = new Set(linesOf(before).lines.map(({ id }) => id));
    const fresh = lines.filter(({ id }) => !there.has(id));
    if (fresh.length > 0 && !dryRun) {
      await makeFolder(dirname(target));
      const kept = before === '' || before.endsWith('\n') ? before : `${before}\n`;
      await replaceFile(target, kept + fresh.map(({ line }) => `${line}\n`).join(''));
    }
    return fresh.length;
  }
}

function linesOf(text: string) {
  const all = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(convertLine);
  const lines = all.filter((line) => line !== undefined);
  return { lines, damaged: all.length - lines.length };
}

const text = z.union([z.string(), z.number()]).transform(String);
/** Names that other versions used for the same field. */
const lineSchema = z.object({
  call: z.object({
    id: text,
    name: z.string().min(1),
    input: z.unknown(),
    messageId: text.optional(),
    message_id: text.optional(),
  }),
  result: z.object({ output: z.unknown(), content: z.unknown(), error: z.unknown() }).partial().nullish(),
  timestamp: z.union([z.string(), z.number()]),
});

/**
 * One line of a tool history, in the form in which it is kept here:
 * `{"call": {"id", "name", "input", "messageId"}, "result": {"callId", "output", "error"?}, "timestamp"}`.
 * @returns `undefined` when the line is no call
 */
function convertLine(line: string): { readonly id: string; readonly line: string } | undefined {
  const parsed = lineSchema.safeParse(parseJson(line));
  if (!parsed.success) return undefined;
  const { call, result, timestamp } = parsed.data;
  const messageId = call.messageId ?? call.message_id;
  const time = new Date(timestamp);
  if (messageId === undefined || Number.isNaN(time.getTime())) return undefined;
  const { error } = result ?? {};
  const use = {
    call: { id: call.id, name: call.name, input: asRecord(call.input), messageId },
    result: {
      callId: call.id,
      output: result?.output ?? result?.content ?? null,
      ...(error === undefined || error === null
        ? {}
        : { error: typeof error === 'string' ? error : JSON.stringify(error) }),
    },
    timestamp: time.toISOString(),
  };
  return { id: call.id, line: JSON.stringify(use) };
}

function asRecord(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input };
  return input === undefined || input === null ? {} : { value: input };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
