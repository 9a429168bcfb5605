import { readFile } from 'node:fs/promises';
import { z } from '@cinnabar/sdk';

/** What must survive a restart of a plugin that guards tools, so that a broken one still fails closed. */
export interface KnownGuard {
  readonly id: string;
  readonly enabledByDefault: boolean;
}

export interface GuardStore {
  read(): Promise<readonly KnownGuard[]>;
  write(guards: readonly KnownGuard[]): Promise<void>;
}

const guardsSchema = z.array(z.object({ id: z.string(), enabledByDefault: z.boolean() }));

/** Keeps known guards in a small file of JSON, replaced as a whole. */
export function createGuardFile(file: string): GuardStore {
  return {
    async read() {
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return '[]';
        throw error;
      });
      return guardsSchema.parse(JSON.parse(text));
    },
    async write(guards) {
      const { writeFile } = await import('atomically');
      await writeFile(file, `${JSON.stringify(guards, null, 2)}\n`, { mode: 0o600 });
    },
  };
}
