import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What ends a process from outside. While a program is waited for, the signal is heard after that. */
const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Change {
  /** The only files that the task changes, from `root`. All of them are there. */
  readonly files: readonly string[];
  /** Whether the changes stay when the task succeeds. */
  readonly keep: boolean;
}

/**
 * Has a task change files, and puts them back as they were when it fails, when a signal ends this process, and when its changes are not to be kept.
 * @throws what the task throws
 */
export async function changing<T>(root: string, { files, keep }: Change, task: () => Promise<T>): Promise<T> {
  const before = files.map((file) => [join(root, file), readFileSync(join(root, file))] as const);
  const restore = () => {
    for (const [file, content] of before) if (!content.equals(readFileSync(file))) writeFileSync(file, content);
  };
  const end = (signal: NodeJS.Signals) => {
    restore();
    for (const one of ENDINGS) process.off(one, end);
    process.kill(process.pid, signal);
  };
  for (const signal of ENDINGS) process.on(signal, end);
  let isDone = false;
  try {
    const result = await task();
    isDone = true;
    return result;
  } finally {
    for (const signal of ENDINGS) process.off(signal, end);
    if (!isDone || !keep) restore();
  }
}
