import type { LocalChannel } from '@cinnabar/local-discord';
import { createDice, type Dice } from './confirm/dice.js';
import { type City, openCity } from './gateway/city.js';
import { type NameServer, takeOverNames } from './gateway/names.js';
import { type Way, waysToFail } from './gateway/ways.js';
import type { CampaignOptions, CampaignResult } from './main.js';

const OUTAGES_MS = [500, 2_000, 10_000, 45_000, 300_000] as const;
const SHARDS = [1, 16] as const;
/** The longest pause of the schedule, plus the longest deadline of an attempt that runs when the outage ends. */
const BACK_WITHIN_MS = 60_000 + 30_000;
/** After this time a connection counts as stable, and the schedule starts again. */
const SOUND_MS = 31_000;
const EVENTS_A_STEP = 0.4;
/** Share of outages that also occur during a bot's start. */
const AT_START = 0.15;

/**
 * Outages of the gateway, of five lengths and in all ways in which it can fail, for a bot with one shard and one with sixteen. Afterwards there is one socket
 * per shard, there were no more attempts than the schedule allows, every event was handled once, and sessions were resumed unless Discord had invalidated them.
 */
export async function gatewayCampaign({ seed, rounds, log }: CampaignOptions): Promise<CampaignResult> {
  const dice = createDice(seed);
  const violations: string[] = [];
  const counts: Record<string, number> = {
    rounds: 0,
    events: 0,
    resumes: 0,
    identifies: 0,
    attempts: 0,
    'at the start': 0,
  };
  using names = takeOverNames();
  let where = '';
  const blame = (what: string) => violations.push(`seed ${seed}, ${where}: ${what}`);
  const onUncaught = (error: unknown) =>
    blame(`an error that nothing caught: ${error instanceof Error ? error.stack : String(error)}`);
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', onUncaught);

  const cities = new Map<number, City>();
  const cityWith = async (shards: number) => {
    const city = cities.get(shards) ?? (await openCity(shards, names, dice));
    cities.set(shards, city);
    await city.started;
    return city;
  };
  try {
    for (let round = 0; round < rounds; round++) {
      // Tries each length with both numbers of shards before the next way: every combination within 180 rounds, with a start that depends on the seed.
      const ways = waysToFail(dice);
      const shards = SHARDS[round % SHARDS.length] ?? 1;
      const outageMs = OUTAGES_MS[Math.floor(round / SHARDS.length) % OUTAGES_MS.length] ?? OUTAGES_MS[0];
      const way = ways[(Math.floor(round / (OUTAGES_MS.length * SHARDS.length)) + seed) % ways.length] ?? ways[0];
      where = `round ${round}, ${way.name} for ${outageMs / 1_000} s, ${shards} shards`;
      add(counts, await passThrough(await cityWith(shards), way, outageMs, names, dice, blame));
      if (way.atStart === true && dice.chance(AT_START)) {
        where = `${where}, at the start`;
        await startInto(way, outageMs, shards, names, dice, blame);
        add(counts, { 'at the start': 1 });
      }
      counts.rounds = round + 1;
      if ((round + 1) % 20 === 0) log(`${round + 1} rounds, ${violations.length} violations`);
    }
  } finally {
    names.resolution = 'there';
    for (const city of cities.values()) await city[Symbol.asyncDispose]();
    process.off('uncaughtException', onUncaught);
    process.off('unhandledRejection', onUncaught);
  }
  return { counts, violations };
}

type Blame = (what: string) => unknown;

let nextEvent = 1;

/** An outage of a running bot. */
async function passThrough(city: City, way: Way, outageMs: number, names: NameServer, dice: Dice, blame: Blame) {
  const { discord, alice, channels, shards } = city;
  await city.pass(SOUND_MS);
  discord.connections.reset();
  const lookupsBefore = names.lookups;
  /** The shard that receives each event. */
  const said = new Map<number, number>();
  const speak = (channel: LocalChannel, slash: boolean) => {
    const event = nextEvent++;
    said.set(event, city.shardOf(channel));
    if (slash) alice.slash(channel, 'count', { event });
    else alice.say(channel, String(event));
  };

  way.begin(discord, names);
  let failures = shards * (way.failures?.(outageMs) ?? 0);
  await city.pass(outageMs, () => {
    const channel = channels[dice.between(0, channels.length - 1)];
    if (channel !== undefined && dice.chance(EVENTS_A_STEP)) speak(channel, dice.chance(0.5));
    if (way.each === undefined) return;
    failures += discord.connections.open.size;
    way.each(discord);
  });
  const duringOutage = names.lookups - lookupsBefore;
  end(city, names);
  for (let waited = 0; waited < BACK_WITHIN_MS && !city.whole(); waited += 1_000) await city.pass(1_000);
  if (!city.whole()) blame(`not whole ${BACK_WITHIN_MS / 1_000} s after the outage: ${stateOf(city)}`);
  for (const channel of channels) speak(channel, false);
  await discord.settled();
  await city.pass(SOUND_MS);

  if (discord.connections.open.size !== shards) blame(`${discord.connections.open.size} sockets for ${shards} shards`);
  // A refused RESUME requires a second attempt.
  const most = way.failures === undefined ? shards * mostAttempts(outageMs) : 2 * failures;
  if (duringOutage > most) blame(`${duringOutage} attempts during the outage, where the schedule has ${most}`);
  const sessions = judgeSessions(city, way, blame);
  judgeEvents(city, said, sessions.identified, blame);
  return {
    events: said.size,
    resumes: sessions.resumes,
    identifies: sessions.identified.size,
    attempts: names.lookups - lookupsBefore,
  };
}

/** Sessions are resumed; when Discord invalidates one, a new session is opened once. */
function judgeSessions({ discord }: City, way: Way, blame: Blame) {
  const identified = new Set<number>();
  let resumes = 0;
  for (const { asked, granted, shard } of discord.connections.attempts) {
    if (granted !== true || shard === undefined) continue;
    if (asked === 'resume') resumes += 1;
    else if (identified.has(shard)) blame(`shard ${shard} identified twice`);
    else identified.add(shard);
  }
  if (identified.size > 0 && way.endsSession !== true)
    blame(`${identified.size} shards identified, where all could resume`);
  return { identified, resumes };
}

/** Each event is handled once; events before a new session may be lost with the old one. */
function judgeEvents({ handled }: City, said: ReadonlyMap<number, number>, anew: ReadonlySet<number>, blame: Blame) {
  for (const [event, shard] of said) {
    const times = handled.get(event) ?? 0;
    if (times > 1 || (times === 0 && !anew.has(shard)))
      blame(`event ${event} of shard ${shard} was handled ${times} times`);
  }
}

/** An outage that began before the start of the bot. */
async function startInto(way: Way, outageMs: number, shards: number, names: NameServer, dice: Dice, blame: Blame) {
  await using city = await openCity(shards, names, dice, (discord) => way.begin(discord, names));
  let started = false;
  let failed: unknown;
  city.started.then(
    () => {
      started = true;
    },
    (error: unknown) => {
      failed = error;
    },
  );
  await city.pass(outageMs);
  if (started) blame('it started although Discord was away');
  if (names.lookups > 0 && city.discord.connections.open.size > shards) blame('more sockets than shards');
  end(city, names);
  for (let waited = 0; waited < 2 * BACK_WITHIN_MS && !(started && city.whole()); waited += 1_000)
    await city.pass(1_000);
  if (failed !== undefined) blame(`the start failed: ${String(failed)}`);
  else if (!started || !city.whole()) blame(`not started after the outage: ${stateOf(city)}`);
}

function end({ discord }: City, names: NameServer): void {
  names.resolution = 'there';
  discord.faults.clear();
}

/** The number of attempts with the shortest pauses of the jitter (0, 0.5, 1, 2 … 30 s), plus the attempt that was already running. */
function mostAttempts(outageMs: number): number {
  let attempts = 1;
  for (let at = 500, pause = 500; at <= outageMs; at += pause) {
    attempts += 1;
    pause = Math.min(pause * 2, 30_000);
  }
  return attempts + 1;
}

function stateOf({ discord, host }: City): string {
  const statuses = host.client.ws.shards.map(({ id, status }) => `${id}:${status}`).join(' ');
  return `${discord.connections.open.size} sockets, shards ${statuses}`;
}

function add(counts: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [what, count] of Object.entries(more)) counts[what] = (counts[what] ?? 0) + count;
}
