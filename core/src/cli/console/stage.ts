import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalDiscordOptions,
  type LocalGuild,
  type LocalRole,
  type LocalUser,
  type PermissionName,
  permissionBits,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import { CinnabarError, type Clock, formatDuration, replaceFile, z } from '@cinnabar/sdk';
import { PermissionsBitField } from 'discord.js';
import { createShiftableClock, createSystemClock, type ShiftableClock } from '../../clock/clock.js';
import type { Host } from '../../host.js';
import { ConsoleError } from './instruction.js';

/** The people and the place of the console. */
export interface Stage {
  readonly discord: LocalDiscord;
  readonly application: LocalApplication;
  readonly guild: LocalGuild;
  readonly channel: LocalChannel;
  /** Owner of the guild and of the bot. */
  readonly you: LocalUser;
  /** A member by name; a new name joins the guild. @throws ConsoleError for the bot's name */
  member(name: string): LocalUser;
  /** A user who exists already, the bot included. */
  known(name: string): LocalUser | undefined;
  people(): readonly LocalUser[];
}

/** When the demo guild was created. The ids depend on it, so that data of one run are found again in the next. */
const FOUNDED = Date.UTC(2026, 0, 1);

/**
 * Starts the local Discord with a demo guild: @you, its owner, and a few members.
 * @param users lets pages in a browser act as members
 * @param port where it listens unless that is taken; a free one when left out
 */
export async function setStage(
  clock: Clock,
  members: readonly string[],
  users?: LocalDiscordOptions['users'],
  port?: number,
): Promise<Stage> {
  let founded = false;
  const start = (where: Pick<LocalDiscordOptions, 'port'>) =>
    startLocalDiscord({
      ...where,
      clock: { now: () => (founded ? clock.now() : FOUNDED) },
      ...(users && { users }),
    });
  const discord = await (port === undefined ? start({}) : start({ port }).catch(() => start({})));
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  const channel = guild.createChannel({ name: 'general' });
  const known = new Map([['you', you]]);
  const member = (name: string) => {
    if (name.toLowerCase() === application.user.username.toLowerCase())
      throw new ConsoleError(`${name} is the bot: it speaks for itself.`);
    const present = known.get(name.toLowerCase());
    if (present !== undefined) return present;
    const person = discord.createUser({ name });
    guild.join(person);
    known.set(name.toLowerCase(), person);
    return person;
  };
  for (const name of members) member(name);
  founded = true;
  const people = () => [...known.values(), application.user];
  return {
    discord,
    application,
    guild,
    channel,
    you,
    member,
    people,
    known: (name) => people().find(({ username }) => username.toLowerCase() === name.toLowerCase()),
  };
}

const TYPED = /(^|[\s(])([@#])([\p{L}\p{N}_.-]+)/gu;

/** Turns typed mentions into real ones: `@alice`, `@Crew` and `#dev`, where there is such a member, role or channel. */
export function withMentions(stage: Stage, text: string): string {
  return text.replace(TYPED, (whole, before: string, sign: string, name: string) => {
    // A full stop may follow the mention at the end of a sentence.
    const bare = name.replace(/[.-]+$/, '');
    const thing =
      sign === '@'
        ? (stage.known(bare) ?? roleCalled(stage, bare))
        : channelsOf(stage).find((channel) => channel.name === bare);
    return thing === undefined ? whole : `${before}${thing}${name.slice(bare.length)}`;
  });
}

/** Text that replaces mentions, custom emoji and timestamps. */
export function withNames(stage: Stage, text: string, now: number): string {
  return text
    .replace(/<@!?(\d+)>/g, (whole, id: string) =>
      named('@', stage.people().find((user) => user.id === id)?.username, whole),
    )
    .replace(/<@&(\d+)>/g, (whole, id: string) => named('@', stage.guild.roles.get(id)?.name, whole))
    .replace(/<#(\d+)>/g, (whole, id: string) =>
      named('#', channelsOf(stage).find((channel) => channel.id === id)?.name, whole),
    )
    .replace(/<a?(:\w+:)\d+>/g, '$1')
    .replace(/<t:(\d{1,11})(?::([tTdDfFR]))?>/g, (_, seconds: string, style: string | undefined) =>
      style === 'R'
        ? relative(Number(seconds) * 1000 - now)
        : `${new Date(Number(seconds) * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    );
}

/** How far away a point in time is, rounded to the minute from one minute on. */
function relative(untilMs: number): string {
  const distance = Math.abs(untilMs);
  const step = distance < 60_000 ? 1000 : 60_000;
  const text = formatDuration(Math.round(distance / step) * step);
  return untilMs < 0 ? `${text} ago` : `in ${text}`;
}

export function channelsOf({ guild }: Stage): readonly LocalChannel[] {
  return [...guild.channels.values(), ...guild.threads.values()];
}

/** The roles made by people: without @everyone and those of bots. */
export function rolesOf({ guild }: Stage): readonly LocalRole[] {
  return [...guild.roles.values()].filter((role) => role !== guild.everyone && role.botId === undefined);
}

const roleCalled = (stage: Stage, name: string) =>
  rolesOf(stage).find((role) => role.name.toLowerCase() === name.toLowerCase());

/**
 * Makes a role where there is none of that name, gives it to members, and adds permissions to it.
 * @param words members with `@`, and permissions as discord.js calls them
 * @returns the result, for people
 * @throws ConsoleError for another word
 */
export function giveRole(stage: Stage, name: string, words: readonly string[]): string {
  const members = words.filter((word) => word.startsWith('@')).map((word) => stage.member(word.slice(1)));
  const permissions = words.filter((word) => !word.startsWith('@')).map(permissionCalled);
  // Below the bot's own role, as a role that is made in Discord's settings.
  const role = roleCalled(stage, name) ?? stage.guild.createRole({ name, position: 1 });
  if (permissions.length > 0)
    stage.guild.editRole(role, { permissions: role.permissions | permissionBits(permissions) });
  for (const member of members) stage.guild.giveRole(member, role);
  const holders = [...stage.guild.members.values()].filter(({ roles }) => roles.has(role));
  const can = new PermissionsBitField(role.permissions).toArray();
  return `role @${role.name}${can.length === 0 ? '' : ` (${can.join(', ')})`}: ${
    holders.map(({ user }) => `@${user.username}`).join(', ') || 'nobody yet'
  }`;
}

function permissionCalled(word: string): PermissionName {
  const names = new PermissionsBitField(PermissionsBitField.All).toArray();
  const found = names.find((name) => name.toLowerCase() === word.toLowerCase());
  if (found === undefined)
    throw new ConsoleError(
      `There is no permission "${word}"; members are written @${word}. Permissions are: ${names.join(', ')}.`,
    );
  return found;
}

function named(sign: string, name: string | undefined, otherwise: string): string {
  return name === undefined ? otherwise : sign + name;
}

const CLOCK_FILE = 'console-clock.json';
const CLOCK_CONTENT = z.object({ aheadMs: z.number().min(0) });

interface LocalTime {
  readonly clock: ShiftableClock;
  /** Stores the new distance, then moves the clock forward. See `ShiftableClock.advance`. */
  advance(byMs: number, settled: () => Promise<void>): Promise<void>;
}

/**
 * The clock of the console. The distance by which `wait` has moved it is stored with the data: times that were stored in one run must not be in the future of
 * the next.
 * @throws CinnabarError CINNABAR_CONFIG_INVALID when the stored distance cannot be read
 */
export function openLocalTime(dataDir: string): LocalTime {
  const file = join(dataDir, CLOCK_FILE);
  const clock = createShiftableClock(createSystemClock(), aheadOf(file));
  return {
    clock,
    async advance(byMs, settled) {
      // Saved before the clock moves: no stored time is later than this one, whenever the process dies.
      await replaceFile(file, JSON.stringify({ aheadMs: clock.aheadMs + byMs }));
      await clock.advance(byMs, settled);
    },
  };
}

function aheadOf(file: string): number {
  try {
    return CLOCK_CONTENT.parse(JSON.parse(readFileSync(file, 'utf8'))).aheadMs;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
    const detail = `${file} says how far the console's clock is ahead, and cannot be read; remove it to start with the machine's time`;
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail }, { cause: error });
  }
}

const PAGE_FILE = 'console-page.json';
const PAGE_ADDRESS = z.object({ port: z.number().int().min(1).max(65_535), key: z.string().min(20) });

type PageAddress = z.infer<typeof PAGE_ADDRESS>;

/**
 * Stores the port of the local Discord's page and the key of its address, so that an open window continues when the bot is started again. When they cannot be
 * read or written, the next run has a new address.
 */
export function openPageAddress(dataDir: string): {
  readonly last: PageAddress | undefined;
  keep(address: PageAddress): Promise<void>;
} {
  const file = join(dataDir, PAGE_FILE);
  return {
    last: pageAddressIn(file),
    async keep(address) {
      await replaceFile(file, JSON.stringify(address)).catch(() => undefined);
    },
  };
}

function pageAddressIn(file: string): PageAddress | undefined {
  try {
    return PAGE_ADDRESS.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/**
 * Makes a function that resolves when the bot has received all events, has done everything that follows from them, and Discord has received the results.
 * It does not wait for a person or for the clock.
 */
export function createSettled(discord: LocalDiscord, host: Pick<Host, 'idle'>): () => Promise<void> {
  return async () => {
    let busy = true;
    while (busy) {
      await discord.settled();
      busy = await host.idle();
    }
  };
}
