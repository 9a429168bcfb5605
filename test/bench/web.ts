import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalGuild,
  type LocalMessage,
  type LocalUser,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { followSignInLink, launchChromium } from '../support/chromium.js';
import { type BotProcess, startBot } from './bot-process.js';
import { compare, compareRounds, type Figure, limit, median } from './report.js';
import { learnSyncedLists, syncedIn, writeSyncedLists } from './synced-lists.js';

const SIZE = Number(process.env.BENCH_GUILDS ?? 2_000);
/** Duration of the run: a page that accumulates data shows it within ten minutes. */
const MINUTES = Number(process.env.BENCH_MINUTES ?? 10);
const MEMBERS = 10;
const EVENTS_PER_SECOND = 100;
const ROUNDS = 5;
const ROUND_MS = 10_000;
const WARM_UP_MS = 30_000;
const LOADS = 5;
const STARTS = 5;
const SCRAPES = 20;
const PATIENCE_MS = 60_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const MIB = 1024 * 1024;
const KIB = 1024;
const OF_THE_BOT = ['web/health', 'accounts/bot-cost'];
const OF_THE_GUILD = ['admin/audit', 'tasks/tasks', 'accounts/answers'];
const CLIENT = fileURLToPath(new URL('public', import.meta.resolve('@cinnabar/local-client/package.json')));

type Shape = 'off' | 'on';
const SHAPES: readonly Shape[] = ['off', 'on'];
const LISTENS: Readonly<Record<Shape, string>> = { off: 'off', on: '0' };

/**
 * Two bots in the same guilds at the same time, one with a dashboard and one without: measures the cost of the dashboard without and with viewers, then the
 * size of what browsers load, and their memory after ten minutes.
 */
export async function* web(): AsyncGenerator<Figure> {
  const world = await createWorld();
  const folder = mkdtempSync(join(tmpdir(), 'cinnabar-bench-web-'));
  const folderOf = (shape: Shape) => join(folder, shape);
  const bots = new Map<Shape, BotProcess>();
  const start = (shape: Shape) =>
    startBot('cinnabar', world.discord, world.applications[shape], folderOf(shape), { CINNABAR_WEB: LISTENS[shape] });
  const browser = await launchChromium();
  try {
    for (const shape of SHAPES) {
      const application = world.applications[shape];
      const known = await learnSyncedLists(world.discord, application, folderOf(shape));
      writeSyncedLists(syncedIn(known, world.guilds, application), application, folderOf(shape));
    }
    yield* await starts(start);
    for (const shape of SHAPES) bots.set(shape, await start(shape));
    const endEvents = beginEvents(world);
    try {
      yield* load(world, bots, browser);
    } finally {
      endEvents();
    }
  } finally {
    await browser.close();
    await Promise.allSettled([...bots.values()].map((bot) => bot.stop()));
    await world.discord.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface World {
  readonly discord: LocalDiscord;
  readonly owner: LocalUser;
  /** A member of the first guild only, who watches it on the page of the local Discord. */
  readonly visitor: LocalUser;
  readonly people: readonly LocalUser[];
  readonly guilds: readonly LocalGuild[];
  readonly home: LocalGuild;
  readonly channels: readonly LocalChannel[];
  readonly general: LocalChannel;
  readonly applications: Readonly<Record<Shape, LocalApplication>>;
}

async function createWorld(): Promise<World> {
  const discord = await startLocalDiscord({ keepMessages: 200, users: { page: CLIENT } });
  discord.requests.enabled = false;
  const owner = discord.createUser({ name: 'owner' });
  const visitor = discord.createUser({ name: 'visitor' });
  const application = (name: Shape) => discord.createApplication({ name, owner });
  const applications = { off: application('off'), on: application('on') };
  const people = Array.from({ length: MEMBERS - 3 }, (_, index) => discord.createUser({ name: `member${index}` }));
  const guilds: LocalGuild[] = [];
  const channels: LocalChannel[] = [];
  for (let index = 0; index < SIZE; index++) {
    const guild = discord.createGuild({ name: `Guild ${index}`, owner });
    for (const person of people) guild.join(person);
    for (const shape of SHAPES) guild.invite(applications[shape]);
    channels.push(guild.createChannel({ name: 'general' }));
    guilds.push(guild);
  }
  const [home] = guilds;
  const [general] = channels;
  if (home === undefined || general === undefined) throw new Error('there is no guild');
  home.join(visitor);
  return { discord, owner, visitor, people, guilds, home, channels, general, applications };
}

/**
 * Sends events in all guilds in turn: of a hundred, 70 messages, 20 reactions and 10 changed nicknames; and a message in the first guild each second. @returns
 * a function that ends it
 */
function beginEvents({ people, guilds, channels, owner, general }: World): () => void {
  const said: LocalMessage[] = [];
  let count = 0;
  const happen = () => {
    const at = count++;
    const [guild, channel] = [guilds[(at * 7) % guilds.length], channels[(at * 7) % channels.length]];
    const person = people[at % people.length];
    if (guild === undefined || channel === undefined || person === undefined) return;
    const message = said.shift();
    if (at % 100 === 0) owner.say(general, `A message in a minute of many, number ${at}`);
    else if (at % 10 < 7) said.push(person.say(channel, `hello everyone, this is ordinary message ${at}`));
    else if (at % 10 < 9 && message !== undefined) owner.react(message, '👍');
    else guild.rename(person, `nickname ${at}`);
    if (said.length > 10) said.shift();
  };
  const started = performance.now();
  const timer = setInterval(() => {
    while (count < ((performance.now() - started) / SECOND_MS) * EVENTS_PER_SECOND) happen();
  }, 50);
  return () => clearInterval(timer);
}

/** From the start of the process to ready. */
async function starts(start: (shape: Shape) => Promise<BotProcess>): Promise<readonly Figure[]> {
  const measured: Record<Shape, { cpuMs: number; rssMib: number }[]> = { off: [], on: [] };
  for (let round = 0; round < STARTS; round++) {
    for (const shape of SHAPES) {
      const bot = await start(shape);
      const { rssBytes } = await bot.memory();
      await bot.stop();
      measured[shape].push({ cpuMs: bot.startCpuUs / 1_000, rssMib: rssBytes / MIB });
    }
  }
  const figure = (name: string, unit: string, of: 'cpuMs' | 'rssMib', atMost: number) =>
    compareRounds({
      name: `${name} with a dashboard`,
      unit,
      ours: measured.on.map((one) => one[of]),
      peer: measured.off.map((one) => one[of]),
      peerName: 'without',
      atMost,
    });
  return [figure('process start to ready', 'ms CPU', 'cpuMs', 1.15), figure('memory when ready', 'MiB', 'rssMib', 1.1)];
}

async function* load(world: World, bots: ReadonlyMap<Shape, BotProcess>, browser: Browser): AsyncGenerator<Figure> {
  const where = `${SIZE.toLocaleString('en-US')} guilds and ${EVENTS_PER_SECOND} events a second`;
  await wait(WARM_UP_MS);
  const idle = await shares(bots);
  yield compareRounds({
    name: `${where}, nobody looks`,
    unit: '% of a core',
    ours: idle.on,
    peer: idle.off,
    peerName: 'without a dashboard',
    atMost: 1.1,
  });

  const { origin, context: signedIn } = await signIn(world, browser);
  yield* await firstLoads(browser, signedIn, origin, world);
  const addresses = [
    ...OF_THE_BOT.map((page) => `${origin}/bot/${page}`),
    ...OF_THE_GUILD.map((page) => `${origin}/g/${world.home.id}/${page}`),
  ];
  const state = await signedIn.storageState();
  const looking: Page[] = [];
  for (const address of addresses) {
    const page = await (await browser.newContext({ storageState: state })).newPage();
    await page.goto(address);
    await page.locator('h1:not(:empty)').waitFor({ timeout: PATIENCE_MS });
    looking.push(page);
  }
  const client = await (await browser.newContext()).newPage();
  await client.goto(world.discord.clientAddress(world.visitor));
  await client.getByRole('textbox', { name: 'Message #general' }).waitFor();
  const [health] = looking;
  if (health === undefined) throw new Error('nobody looks at the dashboard');
  const watched = { 'the health page': await watchHeap(health), 'the local client': await watchHeap(client) };

  const watchedSince = performance.now();
  const seen = await shares(bots);
  const whole = `${where}, ${addresses.length} pages are looked at`;
  yield limit(whole, '% of a core', median(seen.on), 20);
  yield compareRounds({
    name: whole,
    unit: '% of a core',
    ours: seen.on,
    peer: seen.off,
    peerName: 'without a dashboard',
  });
  yield* await scrapes(bots.get('on'), origin);

  const held: Record<string, Held[]> = {};
  // The first minute fills a page's data.
  for (const minute of [...new Set([Math.min(2, MINUTES), Math.ceil(MINUTES / 2), MINUTES])]) {
    await wait(Math.max(0, watchedSince + minute * MINUTE_MS - performance.now()));
    for (const [name, look] of Object.entries(watched)) {
      held[name] ??= [];
      held[name].push(await look());
    }
  }
  for (const [name, looks] of Object.entries(held)) yield* growth(name, looks);
}

/** Share of a core in percent, for both bots in the same rounds. */
async function shares(bots: ReadonlyMap<Shape, BotProcess>): Promise<Readonly<Record<Shape, number[]>>> {
  const spent: Record<Shape, number[]> = { off: [], on: [] };
  const now = () => Promise.all([...bots].map(async ([shape, bot]) => ({ shape, us: await bot.cpuUs() })));
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    const before = await now();
    await wait(ROUND_MS);
    const after = await now();
    const tookUs = (performance.now() - started) * 1_000;
    for (const [index, { shape, us }] of after.entries())
      spent[shape].push(((us - (before[index]?.us ?? us)) / tookUs) * 100);
  }
  return spent;
}

/** Requests a link as the owner of the bot, and follows it. */
async function signIn(
  { discord, owner, general, applications }: World,
  browser: Browser,
): Promise<{ readonly origin: string; readonly context: BrowserContext }> {
  const linked = new Promise<string>((resolve) => {
    const stop = discord.observe((event) => {
      if (event.type !== 'messageCreate' || event.message.author.id !== applications.on.user.id) return;
      const [link] = /http\S+\/sign-in#\w[\w-]*/.exec(event.message.content) ?? [];
      if (link === undefined) return;
      stop();
      resolve(link);
    });
  });
  owner.say(general, '!web link');
  const link = await linked;
  const context = await browser.newContext();
  const page = await context.newPage();
  await followSignInLink(page, link);
  await page.close();
  return { origin: new URL(link).origin, context };
}

/** Both pages in browsers with empty caches. */
async function firstLoads(
  browser: Browser,
  signedIn: BrowserContext,
  origin: string,
  { discord, visitor, home }: World,
): Promise<readonly Figure[]> {
  const state = await signedIn.storageState();
  const pages = [
    ['the local client', discord.clientAddress(visitor), {}],
    ['the dashboard', `${origin}/g/${home.id}`, { storageState: state }],
  ] as const;
  const figures: Figure[] = [];
  for (const [name, address, options] of pages) {
    const loads: Loaded[] = [];
    for (let load = 0; load < LOADS; load++) {
      const context = await browser.newContext(options);
      loads.push(await loadCold(context, address));
      await context.close();
    }
    figures.push(
      limit(`${name}: first contentful paint`, 'ms', median(loads.map(({ paintMs }) => paintMs)), SECOND_MS),
      limit(`${name}: shown`, 'ms', median(loads.map(({ shownMs }) => shownMs)), 2 * SECOND_MS),
      limit(`${name}: transferred for it`, 'KiB', median(loads.map(({ bytes }) => bytes)) / KIB, 300),
    );
  }
  return figures;
}

interface Loaded {
  readonly paintMs: number;
  /** Time until the requested content is shown. */
  readonly shownMs: number;
  /** Bytes on the wire: compressed where the server compresses. */
  readonly bytes: number;
}

async function loadCold(context: BrowserContext, address: string): Promise<Loaded> {
  const page = await context.newPage();
  const protocol = await context.newCDPSession(page);
  let bytes = 0;
  protocol.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await protocol.send('Network.enable');
  const started = performance.now();
  await page.goto(address);
  const paintMs: unknown = await page.evaluate(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  })`);
  await page.locator('h1, [aria-label="Messages"]').first().waitFor({ timeout: PATIENCE_MS });
  const shownMs = performance.now() - started;
  return { paintMs: Number(paintMs), shownMs, bytes };
}

/** Memory of a page after a garbage collection. */
interface Held {
  readonly heapMib: number;
  readonly nodes: number;
  readonly listeners: number;
}

async function watchHeap(page: Page): Promise<() => Promise<Held>> {
  const protocol: CDPSession = await page.context().newCDPSession(page);
  await protocol.send('Performance.enable');
  await protocol.send('HeapProfiler.enable');
  return async () => {
    await protocol.send('HeapProfiler.collectGarbage');
    await protocol.send('HeapProfiler.collectGarbage');
    const { metrics } = await protocol.send('Performance.getMetrics');
    const of = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
    return { heapMib: of('JSHeapUsedSize') / MIB, nodes: of('Nodes'), listeners: of('JSEventListeners') };
  };
}

function* growth(name: string, looks: readonly Held[]): Generator<Figure> {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined) return;
  const what = [
    ['JavaScript heap', 'MiB', 'heapMib'],
    ['nodes', 'nodes', 'nodes'],
    ['listeners', 'listeners', 'listeners'],
  ] as const;
  for (const [label, unit, of] of what)
    yield compare({
      name: `${name} after ${MINUTES} minutes: ${label}`,
      unit,
      ours: last[of],
      peer: first[of],
      peerName: 'after 2',
      atMost: 1.1,
    });
}

/** Processor time of one reading of the metrics. */
async function scrapes(bot: BotProcess | undefined, origin: string): Promise<readonly Figure[]> {
  if (bot === undefined) return [];
  const took: number[] = [];
  for (let scrape = 0; scrape < SCRAPES; scrape++) {
    const started = performance.now();
    const answer = await fetch(`${origin}/metrics`);
    if (!answer.ok) throw new Error(`/metrics answered ${answer.status}`);
    await answer.text();
    took.push(performance.now() - started);
  }
  return [limit(`/metrics in ${SIZE.toLocaleString('en-US')} guilds, under load`, 'ms', median(took), 100)];
}
