import { GatewayDispatchEvents, type GatewayDispatchPayload, GatewayOpcodes } from 'discord.js';
import { fairly } from '../../core/gateway/harness.js';
import { claimsOn, heldLease, limitsOn, recorderOn } from '../../support/cluster-process.js';
import { type Chance, createChance } from '../memory/chance.js';
import { NO_LOG } from '../no-log.js';
import type { Costs, Operation } from './costs.js';
import { createSimulatedDatabase } from './database.js';
import { exampleGuild } from './example-guild.js';
import { createSimulatedServer, type Load, type SimulatedServer } from './server.js';
import { createVirtualTime } from './virtual-time.js';

/** The events in a cluster's servers. */
export interface Traffic {
  readonly machines: number;
  /** Number of groups, divided among the machines in turn. */
  readonly groups: number;
  readonly shards: number;
  readonly guilds: number;
  readonly eventsPerShard: number;
  /** Share of events that change the stored state of a server: its channels, roles, threads, pins, voice states. */
  readonly changingShare: number;
  /** Share of events that are commands. */
  readonly commandShare: number;
  /** Share of commands whose responses Discord does not count: interactions. */
  readonly interactionShare: number;
  /** The writes of a command in addition to its claim. */
  readonly documentsPerCommand: number;
  readonly linesPerCommand: number;
}

export interface Plant {
  readonly costs: Costs;
  readonly cores: number;
  readonly flushMs: number;
  readonly announceMs: number;
  readonly networkMs: number;
}

export interface Simulated {
  /** Operations of the database per second. */
  readonly perSecond: Readonly<Record<Operation, number>>;
  readonly load: Load;
  readonly seconds: number;
  /** Time from a command's arrival until it is answered and its end is stored, in ms; commands that still wait count with their waiting time so far. */
  readonly commandsMs: readonly number[];
}

/** An event is delayed by at most this time. */
const TICK_MS = 10;
const WARM_UP_MS = 2_000;
const BOT = '1';
const FIRST_ID = 10n ** 18n;
const SHIFT = 22n;

/** Simulates some seconds of traffic with the code that stores sessions, claims commands and shares the limits of requests. */
export async function simulateTraffic(traffic: Traffic, plant: Plant, seconds: number, seed = 1): Promise<Simulated> {
  const time = createVirtualTime();
  const server = createSimulatedServer({ ...plant, clock: time });
  const database = createSimulatedDatabase(server, { clock: time, guild: exampleGuild(String(FIRST_ID)) });
  const chance = createChance(seed);
  const commands: { readonly at: number; end: number | undefined }[] = [];
  const machines = Array.from({ length: traffic.machines }, () => limitsOn(database, time));
  const stops = Array.from({ length: traffic.groups }, (_, group) => {
    const limits = machines[group % machines.length];
    if (limits === undefined) throw new RangeError('no machines');
    return playGroup({ group, traffic, database, server, time, chance, limits, commands });
  });

  await time.pass(WARM_UP_MS);
  const before = server.load;
  commands.length = 0;
  await time.pass(seconds * 1_000);
  const after = server.load;
  for (const stop of stops) stop();

  const counted = (operation: Operation) =>
    ((after.counts.get(operation) ?? 0) - (before.counts.get(operation) ?? 0)) / seconds;
  const now = time.now();
  return {
    perSecond: {
      session: counted('session'),
      guild: counted('guild'),
      snapshot: counted('snapshot'),
      claim: counted('claim'),
      'claim-end': counted('claim-end'),
      document: counted('document'),
      line: counted('line'),
      budget: counted('budget'),
    },
    load: {
      counts: after.counts,
      cpuMs: after.cpuMs - before.cpuMs,
      walBytes: after.walBytes - before.walBytes,
      announcingMs: after.announcingMs - before.announcingMs,
    },
    seconds,
    commandsMs: commands.map(({ at, end }) => (end ?? now) - at),
  };
}

interface Group {
  readonly group: number;
  readonly traffic: Traffic;
  readonly database: ReturnType<typeof createSimulatedDatabase>;
  readonly server: SimulatedServer;
  readonly time: ReturnType<typeof createVirtualTime>;
  readonly chance: Chance;
  readonly limits: ReturnType<typeof limitsOn>;
  readonly commands: { readonly at: number; end: number | undefined }[];
}

/** @returns a function that ends it */
function playGroup({ group, traffic, database, server, time, chance, limits, commands }: Group): () => void {
  const { groups, shards, guilds, eventsPerShard } = traffic;
  const lease = heldLease(group);
  const claims = claimsOn(database, lease, time, NO_LOG);
  const recorder = recorderOn(database, lease, shards, { claims, clock: time, log: NO_LOG, ownId: BOT });
  const request = fairly(limits.requests, async () => new Response());
  const sessions = Array.from({ length: shards / groups }, (_, index) => {
    const shardId = group + index * groups;
    return { sessionId: `session-${shardId}`, resumeURL: 'wss://simulated', sequence: 0, shardId, shardCount: shards };
  });
  const guildsPerGroup = Math.max(1, Math.floor(guilds / groups));
  let serial = 0;

  const command = async (channelId: string, guildId: string) => {
    const one: { at: number; end: number | undefined } = { at: time.now(), end: undefined };
    commands.push(one);
    serial += 1;
    const id = String(FIRST_ID + (BigInt(serial * groups + group) << SHIFT));
    await claims.run({ id, guildId, channelId, userId: BOT }, async () => {
      for (let count = 0; count < traffic.documentsPerCommand; count++) await server.run(['document', 1]);
      for (let count = 0; count < traffic.linesPerCommand; count++) await server.run(['line', 1]);
      if (!chance.happens(traffic.interactionShare))
        await request(`https://discord.com/api/v10/channels/${channelId}/messages`, { method: 'POST' });
      return 'answered' as const;
    });
    one.end = time.now();
  };

  const event = () => {
    const session = chance.pick(sessions);
    session.sequence += 1;
    const guildId = String(FIRST_ID + (BigInt(chance.below(guildsPerGroup) * groups + group) << SHIFT));
    const isCommand = chance.happens(traffic.commandShare);
    const isChange = !isCommand && chance.happens(traffic.changingShare);
    const payload = isChange ? changing(guildId, session.sequence) : ordinary(guildId, session.sequence);
    recorder.handed(payload, { shardId: session.shardId, session, intents: 0 });
    // A channel of each server, because commands of one channel wait for each other.
    if (isCommand) void command(guildId, guildId);
  };

  const perTick = (eventsPerShard * sessions.length * TICK_MS) / 1_000;
  let stop = () => undefined as unknown;
  const tick = () => {
    for (let left = poisson(perTick, chance); left > 0; left--) event();
    stop = time.after(TICK_MS, tick);
  };
  stop = time.after(chance.next() * TICK_MS, tick);
  return () => {
    stop();
    recorder.stop();
  };
}

function ordinary(guildId: string, sequence: number): GatewayDispatchPayload {
  const d = { id: guildId, channel_id: guildId, guild_id: guildId };
  return { op: GatewayOpcodes.Dispatch, t: GatewayDispatchEvents.MessageDelete, s: sequence, d };
}

function changing(guildId: string, sequence: number): GatewayDispatchPayload {
  const d = { guild_id: guildId, channel_id: guildId, last_pin_timestamp: new Date(sequence).toISOString() };
  return { op: GatewayOpcodes.Dispatch, t: GatewayDispatchEvents.ChannelPinsUpdate, s: sequence, d };
}

/** A Poisson-distributed number (Knuth). */
function poisson(mean: number, chance: Chance): number {
  const least = Math.exp(-mean);
  let count = -1;
  for (let product = 1; product > least; product *= chance.next()) count += 1;
  return count;
}
