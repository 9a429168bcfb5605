import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'console-history';

/** Lines of earlier runs, the newest first, and where those of this one are kept. It is a convenience: a disk that cannot be written stops nothing. */
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
        // The lines of this run are lost, and nothing else.
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
