import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ReadStream } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { Commands, visible } from '@cinnabar/sdk';
import type { HostConfig } from '../../config/host-config.js';
import { createHost, type Host } from '../../host.js';
import type { Entry as LogEntry } from '../../observability/log-entry.js';
import { guardProcess } from '../../process/errors.js';
import { listenToSignals } from '../../process/signals.js';
import { startWatchdog } from '../../process/watchdog.js';
import { HOST_VERSION } from '../../version.js';
import { dashboardLink } from '../dashboard-link.js';
import { type StartOptions, sayOn, started } from '../discord.js';
import { createCompleter } from './completion.js';
import { ConsoleError } from './instruction.js';
import { createSession, type Session } from './session.js';
import { createSettled, openLocalTime, openPageAddress, setStage } from './stage.js';
import { createTerminal, openHistory } from './terminal.js';
import { colours, plainStyle, renderMarkdown } from './transcript.js';

const WELCOME = `Cinnabar ${HOST_VERSION} on a local Discord (no DISCORD_TOKEN). You are @you, the owner of the server; nothing leaves this machine. Try:
  !help                                   what the bot can do
  !ai add V to my party, he's a Solo      the bot asks, +1 presses 👍
  help                                    what else can be typed here; exit leaves
`;

/** Maximum length of a failed line that is repeated. */
const QUOTED_CHARACTERS = 80;

type Terminal = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
interface Play {
  readonly session: Session;
  readonly terminal: Terminal;
  /** Aborts at a signal, or when the reader of the output is gone: the current line is then the last. */
  readonly signal: AbortSignal;
}

/** Hooks for `cinnabar dev` while the console runs. */
export interface OpenConsole {
  /** The plugins of the running bot: `!bot restart` starts another one. */
  readonly plugins: () => Host['plugins'];
  /** Prints a line without disturbing what is typed. */
  readonly print: (line: string) => void;
  readonly settled: () => Promise<void>;
}

/** Work that goes on beside the console, for the development of a plugin. */
interface ConsoleWork {
  /** Called once the bot is ready; what it returns is called before it stops. */
  onOpen(opened: OpenConsole): Promise<() => Promise<void>>;
  /** Receives the warnings and errors of the log, which otherwise go to standard error. */
  onTrouble(entry: LogEntry): void;
}

/**
 * Runs the bot on a local Discord and plays the lines of standard input on it: a prompt at a terminal, one after another from a pipe. SIGINT, SIGTERM and
 * SIGHUP end it: the bot finishes the current line within its time limit. A reader of the output that closes, such as `head`, ends it, too.
 * @param options the bundles of plugins, and what is called once the bot is ready
 * @param work hooks for `cinnabar dev`, which reloads the plugin meanwhile
 * @returns the exit code: 1 when a line could not be carried out
 */
export async function runConsole(
  config: HostConfig,
  terminal: NodeJS.Process,
  { builtPlugins, onReady }: StartOptions = {},
  work?: ConsoleWork,
): Promise<number> {
  const curtain = new AbortController();
  const end = () => curtain.abort();
  const stops = listenToSignals(terminal);
  void stops.first.then(end);
  terminal.stdout.on('error', end);
  const { clock, advance } = openLocalTime(config.dataDir);
  const page = fileURLToPath(new URL('public', import.meta.resolve('@cinnabar/local-client/package.json')));
  const address = openPageAddress(config.dataDir);
  const key = address.last?.key ?? randomBytes(18).toString('base64url');
  const users = { page, key, advance: (ms: number) => advance(ms, settled) };
  const stage = await setStage(clock, ['alice', 'bob'], users, address.last?.port);
  await address.keep({ key, port: Number(new URL(stage.discord.url).port) });
  const { token } = stage.application;
  const interactive = terminal.stdin.isTTY === true;
  const offersPage = hasBrowser(terminal.stdin, process.env);
  // Only an interactive terminal offers the dashboard; input from a pipe does not.
  const env = { ...(interactive ? { CINNABAR_WEB: '0' } : {}), ...config.env };
  let restarting: Promise<unknown> | undefined;
  const open = () =>
    createHost({
      config: { ...config, env, discordApi: stage.discord.api, token },
      clock,
      isDiscordNew: true,
      ...(builtPlugins === undefined ? {} : { builtPlugins }),
      ...(work === undefined
        ? { terminal: { stream: terminal.stderr, level: 'warn' } }
        : {
            onLogEntry: (entry) => {
              if (entry.level === 'warn' || entry.level === 'error') work.onTrouble(entry);
            },
          }),
      watchdog: startWatchdog(),
      onEndRequest: (how) => {
        if (how === 'restart') restarting ??= restart();
        else end();
      },
    });
  let host = open();
  /** The local Discord, with its members and messages, keeps running. */
  const restart = async () => {
    await host.stop();
    host = open();
    await host.start(token);
    restarting = undefined;
  };
  const release = guardProcess(terminal, (...error) => host.uncaught(...error));
  const settled = async () => {
    await createSettled(stage.discord, host)();
    if (restarting === undefined) return;
    await restarting;
    await createSettled(stage.discord, host)();
  };
  const style = coloursFor(terminal.stdout, process.env) ? colours : plainStyle;
  const toOutput = (line: string): void => {
    terminal.stdout.write(`${line}\n`);
  };
  let print = toOutput;
  const session = createSession({
    stage,
    print: (line) => print(line),
    ...(interactive && { style, render: (text: string) => renderMarkdown(text, style) }),
    advance,
    now: clock.now,
    settled,
    ...(offersPage && { openPage }),
  });
  const prompt = async () => {
    terminal.stdout.write(WELCOME);
    terminal.stdout.write(`The same in a browser: ${stage.discord.clientAddress(stage.you)}\n`);
    if (offersPage) terminal.stdout.write('Type open, and it opens there.\n');
    const link = dashboardLink(host, stage.you.id);
    if (link !== undefined) terminal.stdout.write(`The dashboard, as @you, once within ten minutes: ${link}\n`);
    if (clock.aheadMs > 0)
      terminal.stdout.write(`The clock here is ahead: it is ${new Date(clock.now()).toUTCString()}.\n`);
    const window = createTerminal({
      input: terminal.stdin,
      output: terminal.stdout,
      play: async (line) => {
        try {
          return await session.line(line);
        } catch (error) {
          window.print(style('yellow', sentenceFor(line, error)));
          return false;
        }
      },
      completer: createCompleter(stage, session, () =>
        host
          .resolve(Commands)
          .visibleTo({ userId: stage.you.id, guildId: stage.guild.id, channelId: stage.channel.id }),
      ),
      place: () => session.place,
      ...openHistory(config.dataDir),
      onInterrupt: () => stops.request('SIGINT'),
      signal: curtain.signal,
    });
    print = window.print;
    stage.discord.observe((event) => {
      if (event.type === 'typing' && event.user === stage.application.user) window.typing(event.user.username);
      else if (event.type === 'messageCreate' && event.message.author.id === stage.application.id)
        window.typing(undefined);
    });
    await window.run();
    print = toOutput;
    return 0;
  };
  let onClose: (() => Promise<void>) | undefined;
  try {
    const playing = async () => {
      await host.start(token);
      await settled();
      started(config, onReady, interactive ? (sentence) => print(`cinnabar: ${sentence}`) : sayOn(terminal));
      onClose = await work?.onOpen({ plugins: () => host.plugins, print: (line) => print(line), settled });
      return interactive ? prompt() : pipe({ session, terminal, signal: curtain.signal });
    };
    const end = await Promise.race([playing(), stops.first]);
    return typeof end === 'number' ? end : 0;
  } finally {
    await onClose?.();
    await host.stop().finally(stage.discord.close);
    release();
  }
}

async function pipe({ session, terminal, signal }: Play): Promise<number> {
  let failures = 0;
  for await (const line of createInterface({ input: terminal.stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
    if (signal.aborted) break;
    try {
      if (await session.line(line)) break;
    } catch (error) {
      terminal.stderr.write(`${sentenceFor(line, error)}\n`);
      failures += 1;
    }
  }
  return failures === 0 ? 0 : 1;
}

/** The error of a line, as the console shows it. Any other error is a defect and is thrown again. */
export function sentenceFor(line: string, error: unknown): string {
  if (!(error instanceof ConsoleError)) throw error;
  return `${quoted(line)}: ${error.message}`;
}

/** Follows https://no-color.org. */
function coloursFor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb' && stream.hasColors();
}

function quoted(line: string): string {
  const characters = [...visible(line.slice(0, QUOTED_CHARACTERS * 4))];
  const start = characters.slice(0, QUOTED_CHARACTERS).join('');
  return characters.length > QUOTED_CHARACTERS ? `${start}…` : start;
}

/** Whether the terminal is interactive and the machine can open a browser. */
export function hasBrowser(
  input: Pick<ReadStream, 'isTTY'>,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return input.isTTY === true && !isTrue(env.CI);
}

const isTrue = (value: string | undefined): boolean => value !== undefined && !/^(?:|0|false)$/i.test(value);

/**
 * Opens an address in the default browser of the machine. Resolves when the program that opens it has ended, which can be as late as the browser's end.
 * @throws Error with the reason when that is impossible
 */
export async function openPage(address: string): Promise<void> {
  const { default: open } = await import('open');
  const opener = await open(address);
  const code: unknown = opener.exitCode ?? (await once(opener, 'exit'))[0];
  if (code !== 0) throw new Error(`the program for that ended with ${String(code)}`);
}
