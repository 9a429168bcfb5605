import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type LocalUser, startLocalDiscord } from '@cinnabar/local-discord';
import { testServer } from '../support/postgres.js';
import { type Bot, startBotProcess } from './bot-process.js';
import type { Orders } from './confirm-kill/child.js';
import { type Asked, judge, readingOf } from './confirm-kill/judge.js';
import type { CampaignOptions, CampaignResult } from './main.js';
import { createFastClock } from './relay/fast-clock.js';
import { type Chance, createChance } from './settings/chance.js';

/** The clocks of the bot and its Discord run twenty times as fast as real time. */
const TIMES = 20;
const TIME_LIMIT_SECONDS = 20;
const CHILD = new URL('./confirm-kill/child.js', import.meta.url);
/** Time limit in real time, also for a busy machine. */
const PATIENCE_MS = 60_000;
const POLL_MS = 3;
const MOST_CALLS = 4;

/**
 * Kills a real bot with the real `confirm` by SIGKILL at `rounds` random moments: while cards are posted, pressed, executed and answered, and while the next
 * process updates them. Then compares the messages that the member reads with their decisions and with the executed calls.
 */
export async function confirmKillCampaign({
  seed,
  rounds,
  cluster = false,
  log,
}: CampaignOptions): Promise<CampaignResult> {
  const chance = createChance(seed);
  await using stage = await openStage(cluster);
  const counts: Record<string, number> = { kills: 0, 'cards judged': 0 };
  const violations: string[] = [];
  const count = (what: string, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by;
  };
  let open: Asked[] = [];
  let serial = 0;

  const judgeAll = async () => {
    const effects = await stage.effects();
    const posted = stage.posted();
    for (const asked of open) {
      const reading = readingOf(asked, posted);
      const runs = effects.filter((marker) => marker === asked.marker).length;
      violations.push(...judge(asked, reading, runs, TIME_LIMIT_SECONDS * 1_000));
      count('cards judged');
      count(`read: ${reading.ending.startsWith('👍') ? (reading.sentences[0]?.split(' ')[0] ?? '?') : reading.ending}`);
    }
    open = [];
    stage.forget();
  };
  const report = (round: number) => {
    if (round % 50 === 49) log(`${round + 1} of ${rounds} kills, ${violations.length} violations`);
  };
  /** In a cluster, half of the processes are drained instead of killed. */
  const endOf = (bot: Bot) => {
    if (!cluster || chance.below(2) === 0) return bot.kill;
    count('drained');
    return bot.drain;
  };
  const press = (asked: Asked) => {
    if (asked.pressed !== undefined || chance.below(10) === 0) return;
    const emoji = chance.below(4) === 0 ? '👎' : '👍';
    asked.pressed = { emoji, at: stage.now() };
    stage.alice.react(asked.card, emoji);
    count(`${emoji} pressed`);
  };

  for (let round = 0; round < rounds; round++) {
    const bot = startBotProcess(CHILD, stage.nextOrders());
    const early = chance.below(4) === 0;
    const recovered = early
      ? await diesBefore(bot, 200 + chance.below(600))
      : await comesTo(bot, async () => bot.isReady() && (await stage.isQuiet()));
    if (recovered) {
      await judgeAll();
      const end = endOf(bot);
      await liveAndDie(bot, { stage, chance, open, press, end, marker: () => `m${seed}x${++serial}` });
    } else if (!early) {
      violations.push(`round ${round}: the cards of the last run were not brought to their state: ${bot.complaint()}`);
    }
    bot.kill();
    await bot.gone;
    count('kills');
    if (early) count('kills at a start');
    if (chance.below(3) === 0) open.forEach(press);
    if (chance.below(8) === 0) await wait((TIME_LIMIT_SECONDS * 1_000) / TIMES);
    report(round);
  }
  const last = startBotProcess(CHILD, stage.nextOrders());
  if (!(await comesTo(last, async () => last.isReady() && (await stage.isQuiet()))))
    violations.push(`after the last kill the cards were not brought to their state: ${last.complaint()}`);
  await judgeAll();
  last.kill();
  await last.gone;
  return { counts, violations };
}

interface Life {
  readonly stage: Stage;
  readonly chance: Chance;
  readonly open: Asked[];
  readonly press: (asked: Asked) => void;
  /** Ends the bot's process. */
  readonly end: () => void;
  readonly marker: () => string;
}

/** Members request calls and press buttons; the bot is killed after one of its events, or after a time. */
async function liveAndDie(bot: Bot, { stage, chance, open, press, end, marker }: Life): Promise<void> {
  const calls = 1 + chance.below(MOST_CALLS);
  const killAt = { event: 1 + chance.below(calls * 5), delayMs: chance.below(3) === 0 ? chance.below(25) : 0 };
  const diesAt = Date.now() + 20 + chance.below(600);
  let events = 0;
  const markers: string[] = [];
  const stop = stage.watch((message) => {
    events += 1;
    const found = markers.find((one) => message.content.includes(one));
    if (message.content.startsWith('📋') && found !== undefined && open.every(({ card }) => card !== message))
      open.push({ marker: found, card: message });
    if (events === killAt.event) setTimeout(end, killAt.delayMs);
  });
  const step = createPressing({ chance, open, press });
  for (let asked = 0; !bot.isDead() && Date.now() < diesAt; await wait(POLL_MS)) {
    if (asked < calls && chance.below(3) === 0) {
      asked += 1;
      const name = `${marker()}${chance.below(6) === 0 ? '-fails' : ''}`;
      markers.push(name);
      stage.alice.say(stage.general, `!act ${name}`);
    }
    step();
  }
  end();
  await bot.gone;
  stop();
}

/** Two of three cards are pressed as soon as they appear, the others later or never. */
function createPressing({ chance, open, press }: Pick<Life, 'chance' | 'open' | 'press'>): () => void {
  const later: Asked[] = [];
  const seen = new Set<Asked>();
  return () => {
    for (const one of open) {
      if (seen.has(one)) continue;
      seen.add(one);
      if (chance.below(3) === 0) later.push(one);
      else press(one);
    }
    if (chance.below(20) === 0) later.splice(0).forEach(press);
  };
}

async function comesTo(bot: Bot, holds: () => Promise<boolean>): Promise<boolean> {
  const until = Date.now() + PATIENCE_MS;
  while (!bot.isDead() && Date.now() < until) {
    if (await holds()) return true;
    await wait(POLL_MS);
  }
  return false;
}

/** Always returns `false`: the process dies before its work. */
async function diesBefore(bot: Bot, afterMs: number): Promise<false> {
  await Promise.race([wait(afterMs), bot.gone]);
  return false;
}

type Stage = Awaited<ReturnType<typeof openStage>>;

/** A local Discord in the process that is never killed, and the data folder of the process that is. */
async function openStage(cluster: boolean) {
  const pace = { times: TIMES, since: Date.now() };
  const clock = createFastClock(pace);
  const root = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-confirm-'));
  const discord = await startLocalDiscord({ clock });
  discord.requests.enabled = false;
  const you = discord.createUser({ name: 'you' });
  const alice: LocalUser = discord.createUser({ name: 'alice' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  guild.join(alice);
  const general = guild.createChannel({ name: 'general' });
  const dataDir = join(root, 'data');
  const effects = join(root, 'effects');
  const cards = join(dataDir, 'documents', 'confirm', 'collections', 'global', 'cards');
  const database = cluster ? await testServer() : undefined;
  let lives = 0;
  const nextOrders = (): Orders => {
    lives += 1;
    const name = `machine-${lives}`;
    return database === undefined
      ? orders
      : {
          ...orders,
          dataDir: join(root, name),
          machine: { kind: 'cluster', url: database.url, schema: database.schema, name },
        };
  };
  const orders: Orders = {
    machine: { kind: 'alone' },
    discordApi: discord.api,
    token: application.token,
    dataDir,
    cacheDir: join(root, 'cache'),
    pace,
    effects,
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    delayMs: 8,
    admin: { userId: you.id, guildId: guild.id, channelId: general.id },
  };
  const isOwn = (authorId: string) => authorId === application.user.id;
  const namesIn = (folder: string) => readdir(folder).catch(() => []);
  return {
    alice,
    general,
    nextOrders,
    now: clock.now,
    posted: () => general.messages.filter(({ author }) => isOwn(author.id)),
    /** Drops messages that were judged. */
    forget: () => general.messagesById.clear(),
    effects: async () => (await readFile(effects, 'utf8').catch(() => '')).split('\n'),
    /** Whether every card of an earlier run was updated. */
    async isQuiet() {
      if (database === undefined) return (await namesIn(cards)).every((name) => !name.endsWith('.json'));
      const open = await database.query(
        `SELECT FROM ${database.schema}.documents WHERE path LIKE 'confirm/collections/global/cards/%' LIMIT 1`,
      );
      return open.length === 0;
    },
    watch: (listener: (message: Asked['card']) => void) =>
      discord.observe((event) => {
        const isShown = event.type === 'messageCreate' || event.type === 'messageEdit' || event.type === 'reactionAdd';
        if (!isShown) return;
        if (event.type === 'reactionAdd' ? isOwn(event.user.id) : isOwn(event.message.author.id))
          listener(event.message);
      }),
    async [Symbol.asyncDispose]() {
      await discord.close();
      await database?.[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}
