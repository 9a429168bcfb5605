import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LocalApplication, LocalDiscord, LocalGuild } from '@cinnabar/local-discord';
import { startBot } from './bot-process.js';

const FIRST_SYNCED = 5;
const LOOK_EVERY_MS = 250;

/** What a bot keeps of the slash commands that Discord has of it, as it is stored. */
export interface SyncedLists {
  readonly version: number;
  readonly data: {
    readonly lists: Readonly<Record<string, string>>;
    readonly comparedAt: Readonly<Record<string, number>>;
    readonly api?: string;
  };
}

/** Where that is, below the documents. */
export const pathOfSyncedLists = (key: string): readonly string[] => [
  '@host',
  'collections',
  'global',
  'slash-commands',
  key,
];

/** What the first starts of a bot do at their pace, in thousands of guilds for many minutes: its slash commands are synced, in a few of them only. */
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

/** What would be kept after some guilds were brought in line, from what is known of a few others. */
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
