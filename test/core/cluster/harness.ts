import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@cinnabar/core';
import { type LocalChannel, type LocalDiscord, type LocalMessage, startLocalDiscord } from '@cinnabar/local-discord';
import type { Clock, HostEnd, Plugin } from '@cinnabar/sdk';
import { ShardClientUtil } from 'discord.js';
import { announceIn, memberOfCluster, movableClock } from '../../support/cluster-process.js';
import { leaveLocked } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';
import { type TestDatabase, testDatabase } from '../../support/postgres.js';

const STEP_MS = 500;

/** A bot with a number of groups, and servers in each. */
export async function createClusterWorld({ groups, guilds }: { readonly groups: number; readonly guilds: number }) {
  const database = await testDatabase();
  // The clock does not affect leases and limits, whose time is the database's.
  const clock = movableClock();
  const discord = await startLocalDiscord({ shards: groups, clock });
  const owner = discord.createUser({ name: 'owner' });
  const application = discord.createApplication({ name: 'Bot', owner });
  const channels: LocalChannel[] = [];
  for (let index = 0; index < guilds; index += 1) {
    const make = () => discord.createGuild({ name: `Server ${index}`, owner });
    let guild = make();
    // A server's group depends on the millisecond of its creation. The servers alternate between the groups.
    for (; ShardClientUtil.shardIdForGuildId(guild.id, groups) !== index % groups; guild = make())
      await new Promise((resolve) => setTimeout(resolve, 1));
    guild.invite(application);
    channels.push(guild.createChannel({ name: 'general' }));
  }
  const answersTo = (message: LocalMessage) =>
    [...message.channel.messagesById.values()].filter(({ reference }) => reference?.messageId === message.id);
  const folders: string[] = [];

  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  type Plugins = readonly (string | Plugin)[];
  const member = (name: string, plugins: Plugins, env: Readonly<Record<string, string>> = {}, hasCrashed = false) => {
    const folder = mkdtempSync(join(tmpdir(), 'cinnabar-member-'));
    folders.push(folder);
    if (hasCrashed)
      for (const of of ['', ...Array.from({ length: groups }, (_, group) => `groups/${group}`)])
        leaveLocked(join(folder, 'data', of));
    return memberOn({ database, discord, clock, token: application.token, folder, name, plugins, groups, env });
  };

  return {
    database,
    discord,
    owner,
    application,
    channels,
    answersTo,
    /** Starts as many processes as there are groups, each of which serves one. */
    async processes(plugins: Plugins, env: Readonly<Record<string, string>> = {}) {
      const members = Array.from({ length: groups }, (_, index) => member(`process-${index}`, plugins, env));
      for (const one of members) await one.start();
      const hosts = () => members.flatMap((one) => [...one.hosts()]);
      await until(
        () => members.every((one) => [...one.hosts()].length === 1) && hosts().every(({ client }) => client.isReady()),
      );
      return { members, hosts };
    },
    /** The notices to the owner of the bot. */
    notices: () => owner.openDm(application).messages.map(({ content }) => content),
    /** Waits until people would see it; the test's time limit ends the wait. */
    until,
    /** Has a process take a group away, and die. */
    async loseGroup(group: number) {
      const { schema, query } = database;
      await query(
        `UPDATE ${schema}.leases SET token = token + 1, holder = 'gone', until = now() - interval '1 s' WHERE group_number = ${group}`,
      );
      await announceIn(database);
    },
    /** Waits for work that takes time, advancing the clock of Discord and of all processes in steps. */
    async later<T>(work: Promise<T>): Promise<T> {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      work.then(over, over);
      const breathe = () => new Promise<void>((resolve) => setTimeout(resolve, 5));
      for (; !isOver; await breathe()) await clock.advance(STEP_MS, breathe);
      return work;
    },
    /** Waits until members can use the slash command in this channel: the commands are sent to Discord after the start. */
    async slashable(channel: LocalChannel, name: string) {
      const listed = () => [...(application.guildCommands.get(channel.guild?.id ?? '')?.values() ?? [])];
      while (!listed().some((command) => command.name === name)) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    /**
     * A process of the cluster, from the view of database and Discord.
     * @param plugins ids of bundled ones, or plugins
     * @param hasCrashed whether its last run on this folder was killed
     */
    member,
    async [Symbol.asyncDispose]() {
      await discord.close();
      await database[Symbol.asyncDispose]();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function memberOn(options: {
  readonly database: TestDatabase;
  readonly discord: LocalDiscord;
  readonly clock: Clock;
  readonly token: string;
  readonly folder: string;
  readonly name: string;
  readonly plugins: readonly (string | Plugin)[];
  readonly groups: number;
  readonly env: Readonly<Record<string, string>>;
}) {
  const { database, discord, clock, token, folder, name, plugins, groups, env } = options;
  const log = recordingLogger();
  const ends: HostEnd[] = [];
  const config = loadConfig(folder, {
    DISCORD_API: discord.api,
    DISCORD_TOKEN: token,
    DATABASE_URL: database.url,
    // The folder with plugins that were built before.
    ...(process.env.BUILD_CACHE_PATH === undefined ? {} : { BUILD_CACHE_PATH: process.env.BUILD_CACHE_PATH }),
    ...env,
  });
  const member = memberOfCluster({
    config: { ...config, token, dataDir: join(folder, 'data'), logDir: join(folder, 'logs') },
    name,
    groups,
    database,
    clock,
    host: {
      clock,
      onEndRequest: (how) => void (ends.at(-1) === how || ends.push(how)),
      plugins: plugins.filter((plugin) => typeof plugin !== 'string'),
      only: plugins.map((plugin) => (typeof plugin === 'string' ? plugin : plugin.manifest.id)),
    },
    log,
  });
  return Object.assign(member, { log, ends });
}
