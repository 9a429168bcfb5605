import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { visible } from '@cinnabar/sdk';
import type { HostConfig } from '../../config/host-config.js';
import { createHost } from '../../host.js';
import { guardProcess } from '../../process/guard.js';
import { listenToSignals, type StopRequests } from '../../process/signals.js';
import { startWatchdog } from '../../process/watchdog.js';
import { HOST_VERSION } from '../../version.js';
import { ConsoleError } from './instruction.js';
import { openLocalTime } from './local-time.js';
import { createSession, type Session } from './session.js';
import { createSettled } from './settled.js';
import { setStage } from './stage.js';
import { createTranscript } from './transcript.js';

const WELCOME = `Cinnabar ${HOST_VERSION} on a local Discord (no DISCORD_TOKEN). You are @you, the owner of the guild; nothing leaves this machine.
  !help                  what the bot can do        !ai add V to my party, he's a Solo
  @alice: hello          speak as somebody else     +1 · -1 · +1 m3 · react m3 🎉
  /roll sides:20         a slash command            click m3 Stop · select m3 Menu a · submit field:value
  wait 61s               let time pass              Ctrl-D leaves
`;

/** Of a line that could not be carried out, no more than this is repeated. */
const QUOTED_CHARACTERS = 80;

type Terminal = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
interface Play {
  readonly session: Session;
  readonly terminal: Terminal;
  /** Aborts when the person, or whoever reads the output, has had enough: the line under way is the last. */
  readonly signal: AbortSignal;
  readonly stops: StopRequests;
}

/**
 * Runs the bot on a local Discord and plays the lines of standard input on it: a prompt at a terminal, one after another from a pipe.
 * SIGINT, SIGTERM and SIGHUP end the play: the bot finishes the line under way as far as its time for that goes. So does a reader who goes away, as `head` does.
 * @returns the exit code: 1 when a line could not be carried out
 */
export async function runConsole(config: HostConfig, terminal: NodeJS.Process): Promise<number> {
  const curtain = new AbortController();
  const end = () => curtain.abort();
  const stops = listenToSignals(terminal);
  void stops.first.then(end);
  terminal.stdout.on('error', end);
  const { clock, advance } = openLocalTime(config.dataDir);
  const stage = await setStage(clock, ['alice', 'bob']);
  const host = createHost({
    config: { ...config, discordApi: stage.discord.api, token: stage.application.token },
    clock,
    terminal: { stream: terminal.stderr, level: 'warn' },
    watchdog: startWatchdog(),
  });
  const release = guardProcess(terminal, host.uncaught);
  const interactive = terminal.stdin.isTTY === true;
  const settled = createSettled(stage.discord, host);
  const session = createSession({
    stage,
    transcript: createTranscript((author) => !interactive || author === stage.application.id),
    print: (line) => void terminal.stdout.write(`${line}\n`),
    advance,
    settled,
  });
  try {
    const playing = async () => {
      await host.start(stage.application.token);
      await settled();
      return (interactive ? prompt : pipe)({ session, terminal, signal: curtain.signal, stops });
    };
    const end = await Promise.race([playing(), stops.first]);
    return typeof end === 'number' ? end : 0;
  } finally {
    await host.stop().finally(stage.discord.close);
    release();
  }
}

async function pipe({ session, terminal, signal }: Play): Promise<number> {
  let failures = 0;
  for await (const line of createInterface({ input: terminal.stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
    if (signal.aborted) break;
    failures += await play(session, line, terminal.stderr);
  }
  return failures === 0 ? 0 : 1;
}

async function prompt({ session, terminal, signal, stops }: Play): Promise<number> {
  const { stdin, stdout, stderr } = terminal;
  stdout.write(WELCOME);
  const input = createInterface({ input: stdin, output: stdout, prompt: '> ', signal });
  // One line at a time, whatever is typed ahead: each is played on what the one before has left.
  let last = Promise.resolve(0);
  input.on('line', (line) => {
    last = last.then(async () => {
      await play(session, line, stderr);
      input.prompt();
      return 0;
    });
  });
  // At a prompt, Ctrl-C is a key and no signal.
  input.on('SIGINT', () => stops.request('SIGINT'));
  input.prompt();
  await once(input, 'close');
  await last;
  stdout.write('\n');
  return 0;
}

/** How many failures the line was: 0 or 1. */
async function play(session: Session, line: string, stderr: NodeJS.WritableStream): Promise<number> {
  try {
    await session.line(line);
    return 0;
  } catch (error) {
    if (!(error instanceof ConsoleError)) throw error;
    stderr.write(`${quoted(line)}: ${error.message}\n`);
    return 1;
  }
}

function quoted(line: string): string {
  const characters = [...visible(line.slice(0, QUOTED_CHARACTERS * 4))];
  const start = characters.slice(0, QUOTED_CHARACTERS).join('');
  return characters.length > QUOTED_CHARACTERS ? `${start}…` : start;
}
