import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type LocalChannel, type LocalMessage, startLocalDiscord } from '@cinnabar/local-discord';
import { startLettaStandIn } from '@cinnabar/local-letta';
import type { Chance } from '../settings/chance.js';
import type { Orders } from './child.js';
import { afterPowerCut, type DiskImage, readDisk, writeDisk } from './disk.js';
import type { RecorderOrders } from './operations.js';

/** A bot with a disk, and a local Discord that survives the power cuts. */
export type Harness = Awaited<ReturnType<typeof openHarness>>;

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const RECORDER = new URL('./recorder.js', import.meta.url).href;
const POLL_MS = 5;
/** Time limit for each action; only a hang exceeds it. */
const PATIENCE_MS = 120_000;
/** Log entries about a document whose content is not what was written. */
const DAMAGE = /could not be used|was put aside/;

interface Bot {
  readonly process: ChildProcess;
  readonly gone: Promise<unknown>;
  ready: boolean;
  dead: boolean;
  complaint: string;
}

export async function openHarness(chance: Chance, cacheDir: string) {
  const root = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-powercut-'));
  const discord = await startLocalDiscord();
  discord.requests.enabled = false;
  const letta = await startLettaStandIn({});
  const you = discord.createUser({ name: 'you' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  const logDir = join(root, 'logs');
  let disks = 0;
  let bot: Bot | undefined;
  let image: DiskImage | undefined;

  const disk = () => join(root, `disk-${disks}`);
  const operations = () => join(root, `operations-${disks}.jsonl`);

  const isAlive = () => bot !== undefined && !bot.dead;
  const until = async <T>(find: () => T | undefined, what: string): Promise<T | undefined> => {
    for (const deadline = Date.now() + PATIENCE_MS; isAlive(); await wait(POLL_MS)) {
      const found = find();
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new Error(`nothing came of ${what}`);
    }
    return find();
  };

  return {
    chance,
    guild,
    letta,
    you,
    application,
    isAlive,
    until,
    /** The bot's messages in a channel and its threads, latest last. */
    said(channel: LocalChannel): readonly LocalMessage[] {
      const threads = [...guild.threads.values()].filter(({ parent }) => parent === channel);
      return [channel, ...threads].flatMap(({ messages }) =>
        messages.filter(({ author }) => author.id === application.user.id),
      );
    },
    /** Sends a message to the bot. @returns its first matching answer, or `undefined` when the power is cut first */
    async ask(channel: LocalChannel, text: string, answers = /(?:)/): Promise<string | undefined> {
      if (!isAlive()) return undefined;
      const before = channel.messages.length;
      you.say(channel, text);
      const answer = () =>
        channel.messages
          .slice(before + 1)
          .find(({ author, content }) => author.id === application.user.id && answers.test(content));
      return (await until(answer, `“${text}”`))?.content;
    },
    /** @param cutAfter number of disk operations before the power cut */
    async start(cutAfter?: number): Promise<boolean> {
      const from = disk();
      disks += 1;
      await mkdir(disk());
      if (image !== undefined) await writeDisk(image, from, disk());
      image = await readDisk(disk());
      const dataDir = join(disk(), 'var', 'data');
      const orders: Orders = {
        discordApi: discord.api,
        token: application.token,
        letta: letta.baseUrl,
        dataDir,
        cacheDir,
        logDir,
      };
      const recorder: RecorderOrders = {
        root: disk(),
        log: operations(),
        ...(cutAfter === undefined ? {} : { cutAfter }),
      };
      const child = spawn(process.execPath, ['--import', RECORDER, CHILD, JSON.stringify(orders)], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, CINNABAR_POWERCUT: JSON.stringify(recorder) },
      });
      const started: Bot = { process: child, gone: once(child, 'close'), ready: false, dead: false, complaint: '' };
      bot = started;
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        started.ready ||= text.includes('ready');
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        started.complaint += text;
      });
      child.once('close', () => {
        started.dead = true;
      });
      return (await until(() => started.ready || undefined, 'the start')) === true && isAlive();
    },
    /** Cuts the power, unless that has happened, and drops unsynced changes. Returns the bot's unexpected output. */
    async cut(): Promise<{ readonly operations: number; readonly lost: number; readonly complaint: string }> {
      if (bot === undefined || image === undefined) throw new Error('there is no bot');
      bot.process.kill('SIGKILL');
      await bot.gone;
      const { complaint, process: ended } = bot;
      const lines = (await readFile(operations(), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
      const left = afterPowerCut(
        disk(),
        image,
        lines.map((line) => JSON.parse(line)),
        chance,
      );
      image = left.image;
      const end = ended.signalCode === 'SIGKILL' ? '' : `It ended by itself with ${ended.exitCode}. `;
      return { operations: lines.length, lost: left.lost, complaint: `${end}${complaint}` };
    },
    /** Log lines about damage. */
    async damage(): Promise<readonly string[]> {
      const names = (await readdir(logDir).catch(() => [])).filter((name) => name.startsWith('cinnabar-'));
      const texts = await Promise.all(names.map((name) => readFile(join(logDir, name), 'utf8')));
      return texts
        .join('')
        .split('\n')
        .filter((line) => DAMAGE.test(line));
    },
    async [Symbol.asyncDispose]() {
      bot?.process.kill('SIGKILL');
      await bot?.gone;
      await letta[Symbol.asyncDispose]();
      await discord.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
