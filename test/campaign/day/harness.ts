import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalGuild,
  type LocalUser,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import { type LettaStandIn, startLettaStandIn } from '@cinnabar/local-letta';
import { type RecordedRequest, type StandIn, startAnthropicStandIn, startOpenAiStandIn } from '@cinnabar/local-models';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { freePort } from '../../support/free-port.js';
import { type BotProcess, startBot } from './bot.js';
import type { Orders } from './child.js';
import { createAgent, createMind } from './minds.js';
import { BOTS, type BotName, Requests } from './requests.js';
import { Sightings } from './sightings.js';

export const PLACES = ['general', 'lounge', 'prefill', 'tavern', 'agents', 'workshop', 'board', 'office'] as const;
export type Place = (typeof PLACES)[number];

const MEMBERS = 300;
/** The members who write; the other members are passive. */
const SPEAKERS = [
  ...['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi', 'ivan', 'judy', 'kim', 'leo'],
  ...['mallory', 'nina', 'olaf', 'peggy', 'quinn', 'rita', 'sam', 'trudy', 'uma', 'victor', 'wendy', 'yuri'],
] as const;
const MIDNIGHT = Date.UTC(2026, 0, 1);
/** Time limit in real time. */
const PATIENCE_MS = 20_000;

const COMMON = ['accounts', 'admin', 'ai', 'chat', 'confirm', 'llm'];
const PLUGINS: Readonly<Record<BotName, readonly string[]>> = {
  Cinnabar: [...COMMON, 'discord-tools', 'mcp', 'party', 'persona', 'relay', 'tasks'],
  Opal: COMMON,
};
export const PREFIX: Readonly<Record<BotName, string>> = { Cinnabar: '!', Opal: '?' };

/** One of the two bots, with the state that survives its process. */
export interface Seat {
  readonly application: LocalApplication;
  readonly user: LocalUser;
  /** The requests to its model, as received. */
  readonly requests: readonly RecordedRequest[];
  isUp(): boolean;
  /** Whether the model's service has an outage. */
  isOut: boolean;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** A guild of 300 on a local Discord, with two bots in separate processes, two models' services and a Letta server, all on one clock. */
export interface Harness extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly discord: LocalDiscord;
  readonly guild: LocalGuild;
  readonly places: Readonly<Record<Place, LocalChannel>>;
  /** The owner of the guild and of both bots. */
  readonly admin: LocalUser;
  readonly speakers: readonly [LocalUser, ...LocalUser[]];
  /** Members who write only occasionally. */
  readonly others: readonly [LocalUser, ...LocalUser[]];
  readonly bots: Readonly<Record<BotName, Seat>>;
  readonly letta: LettaStandIn;
  readonly agent: ReturnType<typeof createAgent>;
  readonly agentId: string;
  readonly requests: Requests;
  readonly sightings: Sightings;
  /** Advances all clocks, and resolves when all processes only wait for the clock. */
  advance(byMs: number): Promise<void>;
}

/** @param startMs since midnight */
export async function openHarness(startMs: number): Promise<Harness> {
  const clock = createManualClock(MIDNIGHT + startMs);
  const root = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-day-'));
  const discord = await startLocalDiscord({ clock });
  discord.requests.enabled = false;
  const admin = discord.createUser({ name: 'rogue' });
  const guild = discord.createGuild({ name: 'Night City', owner: admin });
  const join_ = (name: string) => {
    const user = discord.createUser({ name });
    guild.join(user);
    return user;
  };
  const speakers = SPEAKERS.map(join_);
  const others = Array.from({ length: MEMBERS - SPEAKERS.length - 1 }, (_, index) => join_(`member${index}`));
  const places = placesOf(guild);
  const requests = new Requests();
  const sightings = new Sightings(discord);
  const agent = createAgent(requests);
  const letta = await startLettaStandIn({ clock, script: agent.script });
  const { id: agentId } = letta.addAgent({ name: 'aurora' });

  const models: Record<BotName, StandIn> = {
    Cinnabar: await startAnthropicStandIn({ prefill: true, script: (view) => minds.Cinnabar(view) }),
    Opal: await startOpenAiStandIn({ script: (view) => minds.Opal(view) }),
  };
  const env: Readonly<Record<BotName, Readonly<Record<string, string>>>> = {
    Cinnabar: {
      ANTHROPIC_BASE_URL: models.Cinnabar.baseUrl,
      ANTHROPIC_API_KEY: 'sk-day',
      LETTA_BASE_URL: letta.baseUrl,
      LETTA_API_KEY: 'test-key',
    },
    Opal: { OPENAI_BASE_URL: models.Opal.baseUrl, OPENAI_API_KEY: 'sk-day' },
  };
  const settings: Readonly<Record<BotName, Orders['settings']>> = {
    Cinnabar: {
      llm: { provider: 'anthropic', model: 'claude-haiku-4-5' },
      mcp: { listen: `127.0.0.1:${await freePort()}`, callsPerMinute: 10_000 },
    },
    Opal: { llm: { provider: 'openai', model: 'gpt-4.1' } },
  };
  const seats: Record<BotName, Seat & { process: BotProcess | undefined }> = {
    Cinnabar: seatOf('Cinnabar'),
    Opal: seatOf('Opal'),
  };
  const mindOf = (bot: BotName) =>
    createMind({
      bot,
      requests,
      now: clock.now,
      isOut: () => seats[bot].isOut,
      body: () => models[bot].requests.at(-1)?.body,
    });
  const minds = { Cinnabar: mindOf('Cinnabar'), Opal: mindOf('Opal') };
  const processes = () => BOTS.flatMap((bot) => seats[bot].process ?? []);

  const rest = async (moveMs: number) => {
    const until = performance.now() + PATIENCE_MS;
    for (let moved = true, byMs = moveMs; moved; byMs = 0) {
      if (performance.now() > until) throw new Error('the bots do not come to rest');
      const moves = await Promise.all(processes().map((process) => process.advance(byMs)));
      while (agent.isActive() && performance.now() < until) await wait(1);
      await discord.settled();
      moved = moves.includes(true);
    }
  };

  return {
    clock,
    discord,
    guild,
    places,
    admin,
    speakers: atLeastOne(speakers),
    others: atLeastOne(others),
    bots: seats,
    letta,
    agent,
    agentId,
    requests,
    sightings,
    async advance(byMs) {
      clock.advance(byMs);
      await rest(byMs);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(processes().map((process) => process.kill()));
      await Promise.all([models.Cinnabar, models.Opal, letta].map((server) => server[Symbol.asyncDispose]()));
      await discord.close();
      await rm(root, { recursive: true, force: true });
    },
  };

  function seatOf(bot: BotName): Seat & { process: BotProcess | undefined } {
    const application = discord.createApplication({ name: bot, owner: admin });
    guild.invite(application);
    const seat: Seat & { process: BotProcess | undefined } = {
      application,
      user: application.user,
      requests: models[bot].requests,
      process: undefined,
      isOut: false,
      isUp: () => seat.process !== undefined,
      async start() {
        const folder = join(root, bot);
        seat.process = await startBot({
          discordApi: discord.api,
          token: application.token,
          dataDir: folder,
          cacheDir: join(folder, 'cache'),
          prefix: PREFIX[bot],
          plugins: PLUGINS[bot],
          env: env[bot],
          settings: settings[bot],
          board: places.board.id,
          startsAt: clock.now(),
          patientWith: letta.baseUrl,
        });
      },
      async kill() {
        const { process } = seat;
        seat.process = undefined;
        await process?.kill();
      },
    };
    return seat;
  }
}

function placesOf(guild: LocalGuild): Readonly<Record<Place, LocalChannel>> {
  const make = (name: Place) => guild.createChannel({ name });
  return {
    general: make('general'),
    lounge: make('lounge'),
    prefill: make('prefill'),
    tavern: make('tavern'),
    agents: make('agents'),
    workshop: make('workshop'),
    board: make('board'),
    office: make('office'),
  };
}

function atLeastOne<T>([first, ...others]: readonly T[]): readonly [T, ...T[]] {
  if (first === undefined) throw new Error('there is none');
  return [first, ...others];
}
