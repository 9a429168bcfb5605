import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createHost, type Host } from '@cinnabar/core';
import { createCompleter } from '@cinnabar/core/internal/cli/console/completion';
import { ConsoleError, parseLine } from '@cinnabar/core/internal/cli/console/instruction';
import { hasBrowser, sentenceFor } from '@cinnabar/core/internal/cli/console/run';
import { createSession } from '@cinnabar/core/internal/cli/console/session';
import { createSettled, setStage } from '@cinnabar/core/internal/cli/console/stage';
import { createTerminal } from '@cinnabar/core/internal/cli/console/terminal';
import { plainStyle, renderMarkdown, type Style } from '@cinnabar/core/internal/cli/console/transcript';
import { reloadedLine, watchingLine } from '@cinnabar/core/internal/cli/dev';
import { createShiftableClock } from '@cinnabar/core/internal/clock/clock';
import { createDefinitionPool } from '@cinnabar/core/internal/plugins/loader';
import { createMemoryDriver } from '@cinnabar/core/testing';
import type { CommandInfo } from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { BUILD_CACHE } from '../../docs/support/pages.js';

/** The first character of sequences that move a terminal's cursor, and of keys such as arrows. */
export const ESCAPE = String.fromCharCode(27);
const TOKEN = new RegExp(`${ESCAPE}\\[(\\d*(?:;\\d*)?)([A-Za-z])|[\\s\\S]`, 'gu');

/** The content of a terminal of unlimited size after this output. */
function screenOf(written: string): readonly string[] {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const line = () => {
    while (rows.length <= row) rows.push([]);
    return rows[row] ?? [];
  };
  const moves: Readonly<Record<string, (count: number) => void>> = {
    A: (count) => {
      row = Math.max(0, row - count);
    },
    C: (count) => {
      column += count;
    },
    D: (count) => {
      column = Math.max(0, column - count);
    },
    G: (count) => {
      column = count - 1;
    },
    J: () => {
      line().length = Math.min(line().length, column);
      rows.length = row + 1;
    },
    K: () => {
      line().length = Math.min(line().length, column);
    },
    '\r': () => {
      column = 0;
    },
    '\n': () => {
      row += 1;
      line();
    },
  };
  for (const [token, parameters, letter] of written.matchAll(TOKEN)) {
    const move = moves[letter ?? token];
    if (move !== undefined && (letter !== undefined || token < ' ')) move(Number(parameters || 1));
    else {
      while (line().length < column) line().push(' ');
      line()[column] = token;
      column += 1;
    }
  }
  return rows.map((cells) => cells.join('').trimEnd());
}

type Window = Pick<ReturnType<typeof createTerminal>, 'print' | 'typing'>;

interface PlayedTerminal {
  readonly window: Window;
  /** The lines that were entered. */
  readonly typed: readonly string[];
  /** The history at each save. */
  readonly saved: readonly (readonly string[])[];
  readonly ended: Promise<unknown>;
  type(text: string): Promise<void>;
  /** Ends the execution of the current line. */
  finish(): Promise<void>;
  screen(): readonly string[];
  leave(): void;
}

/** A terminal whose lines are recorded, and executed when the test says so. */
export function openTerminal(): PlayedTerminal {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const typed: string[] = [];
  const saved: string[][] = [];
  let written = '';
  // Like a real terminal, it returns to the start of the line at a line feed.
  output.on('data', (data: Buffer) => (written += data.toString().replace(/(?<!\r)\n/g, '\r\n')));
  const gates: (() => void)[] = [];
  const window = createTerminal({
    input,
    output,
    completer: async (line) => [['!help '].filter((each) => each.startsWith(line)), line],
    place: () => '#general',
    history: ['!help party'],
    saveHistory: (lines) => saved.push([...lines]),
    onInterrupt: () => undefined,
    signal: new AbortController().signal,
    play: async (line) => {
      typed.push(line);
      window.print(`m${typed.length} you: ${line}`);
      await new Promise<void>((resolve) => gates.push(resolve));
      return line === 'exit';
    },
  });
  const ended: Promise<unknown> = window.run();
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    window,
    typed,
    saved,
    ended,
    async type(text: string) {
      input.write(text);
      await turn();
    },
    async finish() {
      gates.shift()?.();
      await turn();
    },
    screen: () => screenOf(written),
    leave: () => input.end(),
  };
}

/** The parsed meaning of a typed line: a user and an action; `undefined` for an empty one. @throws for invalid input */
export const meaningOf = (line: string) => parseLine(line);

function wordsOf(error: unknown): string {
  if (error instanceof ConsoleError) return error.message;
  throw error;
}

/** The console's error for an invalid line; `undefined` for a valid one. */
export function mistakeIn(line: string): string | undefined {
  try {
    parseLine(line);
    return undefined;
  } catch (error) {
    return wordsOf(error);
  }
}

/** The console's error for a line that cannot be executed. */
export const refusalOf = (playing: Promise<unknown>) =>
  playing.then(
    () => undefined,
    (error: unknown) => wordsOf(error),
  );

/** The text of a message in the console; by default without colours. */
export const rendered = (text: string, style: Style = plainStyle) => renderMarkdown(text, style);

/** Whether the terminal is interactive and the machine has a browser. */
export const hasBrowserAt = (terminal: { readonly isTTY: boolean }, env: NodeJS.ProcessEnv) =>
  hasBrowser(terminal, env);

/** The local Discord of a console, with its users. */
export const openStage = (clock: ManualClock = createManualClock(0), people: readonly string[] = [], page?: string) =>
  setStage(clock, people, page === undefined ? {} : { page });
export type Stage = Awaited<ReturnType<typeof openStage>>;

interface Seat {
  readonly clock?: ManualClock;
  /** Replaces the machine's browser. */
  readonly openPage?: (address: string) => Promise<void>;
}

/** A user at the console, without a bot: the lines that they type, and the output. */
export function sitDown(stage: Stage, { clock, openPage }: Seat = {}) {
  const lines: string[] = [];
  const session = createSession({
    stage,
    print: (line) => lines.push(line),
    style: plainStyle,
    now: clock?.now ?? Date.now,
    advance: async (ms) => void clock?.advance(ms),
    settled: async () => undefined,
    ...(openPage && { openPage }),
  });
  return {
    lines,
    type: (line: string) => session.line(line),
    /** Executes a line. @returns its output */
    async play(line: string): Promise<readonly string[]> {
      const known = lines.length;
      await session.line(line);
      return lines.slice(known);
    },
    /** The completions at the end of a line, with these commands. */
    completing(commands: readonly CommandInfo[]) {
      const completer = createCompleter(stage, session, async () => commands);
      return async (line: string): Promise<readonly string[]> => (await completer(line))[0];
    },
  };
}

/**
 * A console on a machine whose clock the test moves; `wait` moves the console's ahead of it.
 * @param settled resolves when everything that followed from timers has happened
 */
export async function waitAtConsole(startMs = 0, settled: () => Promise<void> = async () => undefined) {
  const machine = createManualClock(startMs);
  const clock = createShiftableClock(machine);
  const stage = await setStage(clock, []);
  const lines: string[] = [];
  const session = createSession({
    stage,
    print: (line) => lines.push(line),
    style: plainStyle,
    now: clock.now,
    advance: clock.advance,
    settled,
  });
  return {
    machine,
    clock,
    lines,
    /** Types `wait …`, for instance `61s`. */
    wait: async (time: string) => void (await session.line(`wait ${time}`)),
    [Symbol.asyncDispose]: () => stage.discord.close(),
  };
}

/** The day on which consoles with a bot are opened, a Monday. */
const TODAY = Date.UTC(2026, 10, 23, 10);

const pool = createDefinitionPool();

/** A bot at the local console, as `cinnabar start` opens it without a token. */
export interface Console extends AsyncDisposable {
  readonly host: Host;
  /** Types a line. @returns what is wrong with it; `undefined` when it was carried out */
  type(line: string): Promise<string | undefined>;
  /** Prints a line that is not a message in Discord. */
  note(line: string): void;
  /** The output since the last call. */
  take(): readonly string[];
  settled(): Promise<void>;
}

/** @param pluginFolders value of `host.plugins.folders` */
export async function openConsole(folder: string, pluginFolders: readonly string[]): Promise<Console> {
  // Only `wait` moves the clock, so that the result does not depend on the speed of the machine.
  const clock = createShiftableClock(createManualClock(TODAY));
  const stage = await setStage(clock, ['alice', 'bob']);
  const { token } = stage.application;
  const definitions = pool.borrow();
  const host = createHost({
    clock,
    logFiles: false,
    builtPlugins: definitions.builtPlugins,
    reusePlugin: definitions.reuse,
    driver: createMemoryDriver(),
    config: {
      token,
      discordApi: stage.discord.api,
      root: folder,
      botName: undefined,
      configDir: join(folder, 'config'),
      dataDir: join(folder, 'data'),
      cacheDir: join(folder, 'cache'),
      buildCacheDir: BUILD_CACHE,
      logDir: join(folder, 'logs'),
      logLevel: 'error',
      prefixes: ['!'],
      owners: [],
      pluginFolders,
      disabledPlugins: [],
      presets: {},
      presetPlace: (plugin, key) => `${plugin}.${key}`,
      env: {},
    },
  });
  const settled = createSettled(stage.discord, host);
  let printed: string[] = [];
  const note = (line: string) => void printed.push(...line.split('\n'));
  const session = createSession({
    stage,
    print: note,
    advance: clock.advance,
    now: clock.now,
    settled,
  });
  const close = async () => {
    await host.stop();
    definitions.giveBack();
    await stage.discord.close();
  };
  try {
    const { problems } = await host.start(token);
    if (problems.length > 0) throw new Error(problems.map(({ plugin, problem }) => `${plugin}: ${problem}`).join('\n'));
    await settled();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    host,
    async type(line) {
      try {
        await session.line(line);
        return undefined;
      } catch (error) {
        return sentenceFor(line, error);
      }
    },
    note,
    settled,
    take() {
      const lines = printed;
      printed = [];
      return lines;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** The lines that `cinnabar dev` prints at its console. */
export const devLines = { watching: watchingLine, reloaded: reloadedLine };
