import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Signals that end a process. A signal during a child process is handled after that. */
const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Change {
  /** The only files that the task changes, relative to `root`. All of them exist. */
  readonly files: readonly string[];
  /** Whether the changes are kept when the task succeeds. */
  readonly keep: boolean;
}

/**
 * Runs a task that changes files, and restores them when the task fails, when a signal ends this process, and when its changes are not to be kept.
 * @throws the error of the task
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
