import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createShiftableClock } from '../../clock/shiftable-clock.js';
import { createSystemClock } from '../../clock/system-clock.js';
import type { HostConfig } from '../../config/host-config.js';
import { createHost } from '../../host.js';
import { HOST_VERSION } from '../../version.js';
import { guardProcess } from '../process-guard.js';
import { ConsoleError } from './instruction.js';
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

type Terminal = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;

/**
 * Runs the bot on a local Discord and plays the lines of standard input on it: a prompt at a terminal, one after another from a pipe.
 * @returns the exit code: 1 when a line could not be carried out
 */
export async function runConsole(config: HostConfig, terminal: Terminal): Promise<number> {
  const clock = createShiftableClock(createSystemClock());
  const stage = await setStage(clock, ['alice', 'bob']);
  const host = createHost({
    config: { ...config, discordApi: stage.discord.api, token: stage.application.token },
    clock,
    terminal: { stream: terminal.stderr, level: 'warn' },
  });
  const release = guardProcess(host.log);
  const interactive = terminal.stdin.isTTY === true;
  const settled = createSettled(stage.discord, host);
  const session = createSession({
    stage,
    transcript: createTranscript((author) => !interactive || author === stage.application.id),
    print: (line) => void terminal.stdout.write(`${line}\n`),
    advance: clock.advance,
    settled,
  });
  try {
    await host.start(stage.application.token);
    await settled();
    return await (interactive ? prompt : pipe)(session, terminal);
  } finally {
    await host.stop();
    await stage.discord.close();
    release();
  }
}

async function pipe(session: Session, { stdin, stderr }: Terminal): Promise<number> {
  let failures = 0;
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    failures += await play(session, line, stderr);
  }
  return failures === 0 ? 0 : 1;
}

async function prompt(session: Session, { stdin, stdout, stderr }: Terminal): Promise<number> {
  stdout.write(WELCOME);
  const input = createInterface({ input: stdin, output: stdout, prompt: '> ' });
  // One line at a time, whatever is typed ahead: each is played on what the one before has left.
  let last = Promise.resolve(0);
  input.on('line', (line) => {
    last = last.then(async () => {
      await play(session, line, stderr);
      input.prompt();
      return 0;
    });
  });
  input.on('SIGINT', () => input.close());
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
    stderr.write(`${line}: ${error.message}\n`);
    return 1;
  }
}
