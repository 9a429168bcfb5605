import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type {
  LocalApplication,
  LocalChannel,
  LocalDiscord,
  LocalGuild,
  LocalMessage,
  LocalUser,
} from '@cinnabar/local-discord';
import { z } from '@cinnabar/sdk';
import type { TestDatabase } from '../../support/postgres.js';
import type { Machine } from '../machine-host.js';
import type { Orders } from './child.js';
import { APPROVED, CHOICE, DENIED, type Effect } from './script.js';

/** The environment of scenes: one local Discord for all, in the process that is never killed. */
export interface Stage {
  readonly root: string;
  readonly discord: LocalDiscord;
  readonly application: LocalApplication;
  readonly guild: LocalGuild;
  /** Set when each process is another machine of a cluster. */
  readonly database: TestDatabase | undefined;
  readonly you: LocalUser;
  readonly alice: LocalUser;
}

/** The end of a process; `undefined` lets it run. */
export type Death =
  | { readonly kind: 'write'; readonly write: number; readonly when: 'before' | 'after' }
  | { readonly kind: 'moment'; readonly afterMs: number }
  | { readonly kind: 'none' };

/** The compared part of a stored task. */
const keptTask = z.object({
  status: z.string(),
  stepCount: z.number(),
  log: z.array(
    z.object({ n: z.number(), tool: z.string(), input: z.string(), outcome: z.string(), result: z.string() }),
  ),
  unknowns: z.array(z.string()),
  ending: z.object({ text: z.string(), told: z.boolean() }).optional(),
});
type Task = z.output<typeof keptTask>;

/** The traces of a finished task. */
export interface Traces {
  readonly task: Task;
  readonly effects: readonly Effect[];
  /** The task's messages, without cards and their answers, which are the host's. */
  readonly said: readonly string[];
  /** Number of writes of the last process, counted from when it was ready. */
  readonly writes: number;
  readonly kills: number;
}

const PROMPT = 'Tidy the shelves';
const POLL_MS = 10;
const PATIENCE_MS = 60_000;
const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

/**
 * Plays the scripted task once: it is executed by one process after another, each killed according to `deaths`, while a member answers, denies and approves.
 * The last process runs until the result of the task is posted.
 */
export async function play(stage: Stage, number: number, deaths: readonly Death[], delayMs: number): Promise<Traces> {
  const dataDir = join(stage.root, `scene-${number}`);
  await mkdir(dataDir, { recursive: true });
  const effects = join(dataDir, 'effects.txt');
  const channel = stage.guild.createChannel({ name: `scene-${number}` });
  const owner = { userId: stage.you.id, guildId: stage.guild.id, channelId: channel.id };
  const people = createPeople(stage, channel);
  const { database } = stage;
  const readTask = () =>
    database === undefined
      ? readDocument(join(dataDir, 'documents', 'tasks', 'collections', 'global', 'tasks'))
      : readRow(database, channel);
  const orders = {
    api: stage.discord.api,
    token: stage.application.token,
    dataDir,
    cacheDir: join(stage.root, 'cache'),
    effects,
    owner,
    delayMs,
  };
  let [kills, writes, lives] = [0, 0, 0];
  for (const death of [...deaths, { kind: 'none' } as const]) {
    lives += 1;
    const machine = machineOf(database, `machine-${number}-${lives}`);
    const living = machine.kind === 'alone' ? orders : { ...orders, dataDir: join(dataDir, machine.name) };
    const bot = start({ ...living, machine, ...(death.kind === 'write' ? { dieAt: death } : {}) });
    const ended = await live(bot, death).finally(async () => {
      if (!bot.isDead()) bot.process.kill('SIGKILL');
      await bot.gone;
    });
    writes = bot.writes();
    if (death.kind !== 'none') kills += 1;
    if (ended) break;
  }
  const task = await readTask();
  if (task === undefined) throw new Error('there is no task');
  const lines = await readFile(effects, 'utf8').catch(() => '');
  return {
    task,
    effects: lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
    said: people
      .messages()
      .filter(isOfTask)
      .map(({ content }) => content),
    writes,
    kills,
  };

  /** Resolves when the process dies or the task has ended, with `true` when it has ended. */
  async function live(bot: Bot, death: Death): Promise<boolean> {
    const deadline = Date.now() + PATIENCE_MS;
    let readyAt: number | undefined;
    while (!bot.isDead()) {
      const task = await readTask();
      if (Date.now() > deadline) throw new Error(`nothing comes of it: ${task?.status} ${bot.complaint()}`);
      if (bot.isReady()) {
        // A command is repeated if the process that received it died before it wrote anything.
        if (readyAt === undefined && task === undefined) people.begin();
        readyAt ??= Date.now();
        people.decide();
        if (isOver(task) || isDue(death, readyAt)) return isOver(task);
      }
      await wait(POLL_MS);
    }
    return false;
  }
}

const isOver = (task: Task | undefined) => task?.ending?.told === true;
const isDue = (death: Death, readyAt: number) => death.kind === 'moment' && Date.now() - readyAt >= death.afterMs;

/** Reads the files directly: another driver would clean up unfinished writes of the bot. */
async function readDocument(folder: string): Promise<Task | undefined> {
  const name = (await readdir(folder).catch(() => [])).find((file) => file.endsWith('.json'));
  if (name === undefined) return undefined;
  const stored = z.object({ data: keptTask }).parse(JSON.parse(await readFile(join(folder, name), 'utf8')));
  return stored.data;
}

/** The task in a channel. */
async function readRow({ query, schema }: TestDatabase, channel: LocalChannel): Promise<Task | undefined> {
  const sql = `SELECT body->'data' AS task FROM ${schema}.documents WHERE path LIKE 'tasks/collections/global/tasks/%'`;
  // Before the first machine has started, there are no tables.
  const rows = await query(sql).catch(() => []);
  const row = rows.find(({ task }) => JSON.stringify(task).includes(channel.id));
  return row && keptTask.parse(row.task);
}

const machineOf = (database: TestDatabase | undefined, name: string): Machine =>
  database === undefined ? { kind: 'alone' } : { kind: 'cluster', url: database.url, schema: database.schema, name };

interface Bot {
  readonly process: ChildProcess;
  readonly gone: Promise<unknown>;
  isReady(): boolean;
  isDead(): boolean;
  writes(): number;
  complaint(): string;
}

function start(orders: Orders): Bot {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(orders)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [ready, dead, writes, complaint] = [false, false, 0, ''];
  createInterface(child.stdout).on('line', (line) => {
    if (line === 'ready') ready = true;
    else writes = Number(line.slice('write '.length));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const gone = once(child, 'close').then(() => {
    dead = true;
  });
  return {
    process: child,
    gone,
    isReady: () => ready,
    isDead: () => dead,
    writes: () => writes,
    complaint: () => complaint,
  };
}

const isOfTask = ({ content }: LocalMessage) => /^-# .* task \w+$/m.test(content) || content.startsWith('**Task ');

/** A member who gives the task, answers its question, denies one note and approves the other, as often as they are asked. */
function createPeople({ guild, alice, application }: Stage, channel: LocalChannel) {
  const clicked = new Map<string, number>();
  const messages = () =>
    [channel, ...[...guild.threads.values()].filter(({ parent }) => parent === channel)].flatMap((place) =>
      place.messages.filter(({ author }) => author.id === application.user.id),
    );
  const decisionOn = (message: LocalMessage): string | undefined => {
    const buttons = JSON.stringify(message.components);
    if (buttons.includes(`"label":"${CHOICE}"`)) return CHOICE;
    if (!buttons.includes('"label":"Once"')) return undefined;
    if (message.content.includes(DENIED)) return 'Deny';
    return message.content.includes(APPROVED) ? 'Once' : undefined;
  };
  return {
    messages,
    begin() {
      alice.say(channel, `!task ${PROMPT}`);
    },
    decide() {
      for (const message of messages()) {
        const decision = decisionOn(message);
        // A click that was not received is repeated.
        if (decision === undefined || Date.now() - (clicked.get(message.id) ?? 0) < 400) continue;
        clicked.set(message.id, Date.now());
        try {
          alice.click(message, decision);
        } catch {
          // The bot is not running at the moment.
        }
      }
    },
  };
}
