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
    readonly groups: readonly { readonly digest: string; readonly comparedAtMs: number; readonly lists: string }[];
    readonly digests: Readonly<Record<string, string>>;
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
  const comparedAtMs = Date.now();
  const isOfGuilds = ({ lists }: SyncedLists['data']['groups'][number]) => !lists.startsWith('dm ');
  const { digest = '' } = data.groups.find(isOfGuilds) ?? {};
  const lists = [...guilds].map((guild) => `${guild.id} ${guild.members.get(application.id)?.joinedAt}`);
  const global = data.groups.filter((group) => !isOfGuilds(group)).map((group) => ({ ...group, comparedAtMs }));
  return { version, data: { ...data, groups: [...global, { digest, comparedAtMs, lists: lists.join(' ') }] } };
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
