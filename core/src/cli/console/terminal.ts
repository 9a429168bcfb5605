import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';

interface TerminalDependencies {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Carries out one line; resolves with `true` when the person wants to leave. */
  readonly play: (line: string) => Promise<boolean>;
  readonly completer: (line: string) => Promise<[string[], string]>;
  /** The text before the `>`. */
  readonly place: () => string;
  /** Earlier lines, the newest first. */
  readonly history: readonly string[];
  readonly saveHistory: (lines: readonly string[]) => void;
  readonly onInterrupt: () => void;
  readonly signal: AbortSignal;
}

interface Terminal {
  /** Prints above the line that is being typed, and keeps that line. */
  print(text: string): void;
  /** Shows the typing indicator, until the next call. */
  typing(name: string | undefined): void;
  /** Resolves when the person has left and the last line has been played. */
  run(): Promise<void>;
}

const MOST_HISTORY = 500;

/** A prompt that output does not disturb. Lines that are typed ahead run one after another. */
export function createTerminal(parts: TerminalDependencies): Terminal {
  const { input, output, play, completer, place, history, saveHistory, onInterrupt, signal } = parts;
  let typing: string | undefined;
  let open = true;
  const readline = createInterface({
    input,
    output,
    completer: (line: string, done: (error: null, found: [string[], string]) => void) => {
      completer(line).then(
        (found) => done(null, found),
        () => done(null, [[], line]),
      );
    },
    signal,
    terminal: true,
    history: [...history],
    historySize: MOST_HISTORY,
    removeHistoryDuplicates: true,
  });
  readline.once('close', () => {
    open = false;
  });
  const showPrompt = () => {
    if (!open) return;
    readline.setPrompt(`${place()}${typing === undefined ? '' : ` (${typing} is typing …)`}> `);
    readline.prompt(true);
  };
  /** Removes the prompt and the typed text from the screen; `showPrompt` restores both. */
  const hidePrompt = () => {
    if (!open) return;
    const { rows } = readline.getCursorPos();
    cursorTo(output, 0);
    if (rows > 0) moveCursor(output, 0, -rows);
    clearScreenDown(output);
  };
  const print = (text: string) => {
    hidePrompt();
    output.write(`${text}\n`);
    showPrompt();
  };

  const eraseTyped = (line: string) => {
    const columns =
      'columns' in output && typeof output.columns === 'number' ? output.columns : Number.POSITIVE_INFINITY;
    moveCursor(output, 0, -1 - Math.floor((readline.getPrompt().length + line.length) / columns));
    cursorTo(output, 0);
    clearScreenDown(output);
    showPrompt();
  };

  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  readline.on('line', (line) => {
    // A line that runs at once appears as the message that it became, with its id; lines typed ahead stay on the screen until then.
    if (waiting === 0) eraseTyped(line);
    waiting += 1;
    last = last.then(async () => {
      const leaves = await play(line);
      waiting -= 1;
      typing = undefined;
      hidePrompt();
      // A prompt that is closed cannot be shown again.
      if (leaves) readline.close();
      else showPrompt();
    });
    last.catch(() => readline.close());
  });
  readline.on('history', (lines) => saveHistory(lines));
  // At a prompt, Ctrl-C is a key and not a signal.
  readline.on('SIGINT', onInterrupt);

  return {
    print,
    typing(name) {
      if (typing === name) return;
      hidePrompt();
      typing = name;
      showPrompt();
    },
    async run() {
      const closed = once(readline, 'close');
      showPrompt();
      await closed;
      await last;
      output.write('\n');
    },
  };
}

const FILE = 'console-history';

/** The history of typed lines, the newest first. A failure to write it is ignored. */
export function openHistory(dataDir: string): {
  readonly history: readonly string[];
  readonly saveHistory: (lines: readonly string[]) => void;
} {
  const path = join(dataDir, FILE);
  return {
    history: linesOf(path),
    saveHistory(lines) {
      try {
        writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o600 });
      } catch {
        // The typed lines of this run are lost.
      }
    },
  };
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
