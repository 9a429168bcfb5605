import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LocalApplication, LocalDiscord, LocalGuild } from '@cinnabar/local-discord';
import { startBot } from './bot-process.js';

const FIRST_SYNCED = 5;
const LOOK_EVERY_MS = 250;

/** The stored record of the slash commands that Discord has for the bot. */
export interface SyncedLists {
  readonly version: number;
  readonly data: {
    readonly lists: Readonly<Record<string, string>>;
    readonly comparedAt: Readonly<Record<string, number>>;
    readonly api?: string;
  };
}

/** Its folder below the documents. */
export const pathOfSyncedLists = (key: string): readonly string[] => [
  '@host',
  'collections',
  'global',
  'slash-commands',
  key,
];

/** Simulates the background work of a bot's first starts, which sync slash commands in thousands of guilds for many minutes, in a few guilds only. */
export async function learnSyncedLists(
  discord: LocalDiscord,
  application: LocalApplication,
  dataDir: string,
): Promise<SyncedLists> {
  const bot = await startBot('cinnabar', discord, application, dataDir);
  while (application.guildCommands.size < FIRST_SYNCED) await wait(LOOK_EVERY_MS);
  await wait(LOOK_EVERY_MS);
  await bot.stop();
  const stored: SyncedLists = JSON.parse(readFileSync(fileOf(dataDir, application), 'utf8'));
  return stored;
}

/** The record after some guilds were synced, derived from the records of a few others. */
export function syncedIn(known: SyncedLists, guilds: Iterable<LocalGuild>, application: LocalApplication): SyncedLists {
  const { version, data } = known;
  const lists: Record<string, string> = { dm: data.lists.dm ?? '' };
  const comparedAt: Record<string, number> = { dm: Date.now() };
  const [, one = ''] = Object.entries(data.lists).find(([list]) => list !== 'dm') ?? [];
  const [digest = ''] = one.split(' ');
  for (const guild of guilds) {
    comparedAt[guild.id] = Date.now();
    lists[guild.id] = `${digest} ${guild.members.get(application.id)?.joinedAt.toString(36)}`;
  }
  return { version, data: { ...data, lists, comparedAt } };
}

export function writeSyncedLists(synced: SyncedLists, application: LocalApplication, dataDir: string): void {
  const file = fileOf(dataDir, application);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(synced));
}

function fileOf(dataDir: string, application: LocalApplication): string {
  const path = pathOfSyncedLists(application.id).map(encodeURIComponent);
  return `${join(dataDir, 'documents', ...path)}.json`;
}
