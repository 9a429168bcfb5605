import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, loadConfig } from '@cinnabar/core';
import { createShiftableClock } from '@cinnabar/core/internal/clock/clock';
import { type LocalChannel, type LocalDiscord, type LocalMessage, startLocalDiscord } from '@cinnabar/local-discord';
import type { Clock, HostEnd, Plugin } from '@cinnabar/sdk';
import { ShardClientUtil } from 'discord.js';
import { memberOfCluster } from '../../support/cluster-member.js';
import { leaveLocked } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';
import { type TestDatabase, testDatabase } from '../../support/postgres.js';

const STEP_MS = 500;

/** Servers of a bot in so many groups, some in each. */
export async function createClusterWorld({ groups, guilds }: { readonly groups: number; readonly guilds: number }) {
  const database = await testDatabase();
  // Leases are not on it: they last as long as the database says.
  const clock = createShiftableClock(createSystemClock());
  const discord = await startLocalDiscord({ shards: groups, clock });
  const owner = discord.createUser({ name: 'owner' });
  const application = discord.createApplication({ name: 'Bot', owner });
  const channels: LocalChannel[] = [];
  for (let index = 0; index < guilds; index += 1) {
    const make = () => discord.createGuild({ name: `Server ${index}`, owner });
    let guild = make();
    // Which group a server belongs to follows from the millisecond in which it was made. The bot is in one of each in turn.
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
    /** As many processes as there are groups, each of which serves one. */
    async processes(plugins: Plugins, env: Readonly<Record<string, string>> = {}) {
      const members = Array.from({ length: groups }, (_, index) => member(`process-${index}`, plugins, env));
      for (const one of members) await one.start();
      const hosts = () => members.flatMap((one) => [...one.hosts()]);
      await until(
        () => members.every((one) => [...one.hosts()].length === 1) && hosts().every(({ client }) => client.isReady()),
      );
      return { members, hosts };
    },
    /** What the owner of the bot was sent. */
    notices: () => owner.openDm(application).messages.map(({ content }) => content),
    /** Waits for something that people would see; the test's own time limit ends it. */
    until,
    /** Waits for something that happens after a time, which passes in steps for Discord and the hosts of all processes. */
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
    /** Waits until members can use the slash command in this channel: the lists go to Discord after the start. */
    async slashable(channel: LocalChannel, name: string) {
      const listed = () => [...(application.guildCommands.get(channel.guild?.id ?? '')?.values() ?? [])];
      while (!listed().some((command) => command.name === name)) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    /**
     * A process of the cluster, as far as database and Discord can tell.
     * @param plugins ids of bundled ones, or plugins
     * @param hasCrashed its last run on this folder was killed
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
    // Where the plugins are built already.
    ...(process.env.BUILD_CACHE_PATH === undefined ? {} : { BUILD_CACHE_PATH: process.env.BUILD_CACHE_PATH }),
    ...env,
  });
  const member = memberOfCluster({
    config: { ...config, token, dataDir: join(folder, 'data'), logDir: join(folder, 'logs') },
    name,
    groups,
    database,
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
