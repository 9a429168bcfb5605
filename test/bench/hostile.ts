import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalDiscord, startLocalDiscord } from '@cinnabar/local-discord';
import { startBot } from './bot-process.js';
import { CALLS, CARDS, PAGES, PINS } from './hostile/documents.js';
import { fairness } from './hostile/fairness.js';
import { type Figure, limit, median, percentile } from './report.js';

const EVERY_MS = 25;
const IDLE_MS = 2_000;
const AT_MOST_MS = 250;
/** Time limit for one document, which may include the start of an MCP server. */
const PATIENCE_MS = 120_000;

interface Delay {
  readonly ms: number;
  /** Lateness without the time for which this process and the bot's waited for a processor: the value for an otherwise idle machine. */
  readonly ownMs: number;
}

/**
 * Measures how long a server waits beside one that floods the bot. Then gives thirty hostile documents to a bot while requesting a heartbeat every 25 ms, as
 * Discord may at any time: no heartbeat may be late by more than 250 ms.
 */
export async function* hostile(_folder?: string, rounds?: number): AsyncGenerator<Figure> {
  yield* fairness(rounds);
  yield* documents();
}

async function* documents(): AsyncGenerator<Figure> {
  const discord = await startLocalDiscord();
  const pages = await servePages();
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  const general = guild.createChannel({ name: 'general' });
  const pinned = Object.values(PINS).map((yaml, at) => {
    const channel = guild.createChannel({ name: `pinned-${at}` });
    you.pin(you.say(channel, `.config\n${yaml}`));
    return channel;
  });
  // Created beforehand, because this process must notice heartbeats quickly.
  const cards = Object.entries(CARDS).map(([what, make]) => [what, make()] as const);
  const bot = await startBot('hostile', discord, application, undefined, { PAGES_PORT: String(pages.port) });

  /** Sends a message, and waits for the bot's answer. */
  const ask = async (
    channel: typeof general,
    ...said: Parameters<typeof you.say> extends [unknown, ...infer R] ? R : never
  ) => {
    const { length } = channel.messages;
    you.say(channel, ...said);
    const until = performance.now() + PATIENCE_MS;
    while (!channel.messages.slice(length + 1).some(({ author }) => author.id === application.user.id)) {
      if (performance.now() > until) throw new Error(`no answer to ${said[0].slice(0, 80)}`);
      await sleep(5);
    }
  };
  const groups: Readonly<Record<string, readonly (() => Promise<void>)[]>> = {
    'web pages': Object.keys(PAGES).map((_, at) => () => ask(general, `!page ${pages.url(at)}`)),
    'character cards': cards.map(
      ([, data]) =>
        () =>
          ask(general, '!persona import', { files: [{ name: 'card.png', data, contentType: 'image/png' }] }),
    ),
    'MCP servers': Object.values(CALLS).map(([tool, input], at) => async () => {
      await ask(general, `!mcp restart child${at}`);
      await ask(general, `!foreign child${at}_${tool} ${JSON.stringify(input)}`);
      // The flood of the server begins after its answer.
      await sleep(1_000);
    }),
    'pinned configurations': pinned.map((channel) => () => ask(channel, '!ai hello')),
  };
  try {
    await ask(general, '!ai use chat');
    const watch = (work: () => Promise<unknown>) => delays(discord, bot.pid, work);
    const idle = await watch(() => sleep(IDLE_MS));
    const count = Object.values(groups).flat().length;
    const all: Delay[] = [];
    for (const [name, feed] of Object.entries(groups)) {
      const late = await watch(async () => {
        for (const one of feed) await one();
      });
      all.push(...late);
      yield limit(`hostile: latest heartbeat during ${feed.length} ${name}`, 'ms', latest(late), AT_MOST_MS);
    }
    const together = await watch(async () => {
      await Promise.all([...(groups['web pages'] ?? []), ...(groups['character cards'] ?? [])].map((one) => one()));
    });
    all.push(...together);
    yield limit('hostile: latest heartbeat, all pages and cards at once', 'ms', latest(together), AT_MOST_MS);
    yield limit(`hostile: latest heartbeat during ${count} documents`, 'ms', latest(all), AT_MOST_MS);
    const own = Math.max(...all.map(({ ownMs }) => ownMs));
    yield limit('hostile: the same, without waiting for a processor', 'ms', own, AT_MOST_MS);
    process.stderr.write(`without documents: ${described(idle)}\nwith documents: ${described(all)}\n`);
  } finally {
    await bot.stop();
    await pages.close();
    await discord.close();
  }
}

const latest = (delays: readonly Delay[]) => Math.max(...delays.map(({ ms }) => ms));

function described(delays: readonly Delay[]): string {
  const times = delays.map(({ ms }) => ms);
  const own = Math.max(...delays.map(({ ownMs }) => ownMs));
  const [middle, late] = [median(times), percentile(times, 99)];
  return `${times.length} heartbeats, median ${middle.toFixed(1)} ms, p99 ${late.toFixed(1)} ms, latest ${latest(delays).toFixed(1)} ms (${own.toFixed(1)} ms had no process waited for a processor)`;
}

/** The lateness of each heartbeat that is requested while the work runs. */
async function delays(discord: LocalDiscord, bot: number, work: () => Promise<unknown>): Promise<readonly Delay[]> {
  const late: Delay[] = [];
  let isOver = false;
  const beat = async () => {
    while (!isOver) {
      const [asked, waited] = [performance.now(), waitedMs(process.pid) + waitedMs(bot)];
      await discord.heartbeats(PATIENCE_MS);
      const ms = performance.now() - asked;
      late.push({ ms, ownMs: Math.max(0, ms - (waitedMs(process.pid) + waitedMs(bot) - waited)) });
      await sleep(EVERY_MS);
    }
  };
  const beating = beat();
  await work().finally(() => {
    isOver = true;
  });
  await beating;
  return late;
}

/** How long the main thread of a process was ready but had no processor; available on Linux only. */
function waitedMs(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const [, nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

async function servePages() {
  const bodies = Object.values(PAGES).map((html) => Buffer.from(html));
  const server: Server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(bodies[Number(request.url?.slice(1))]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: (at: number) => `http://pages.example.org:${port}/${at}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
