import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestHost } from '@cinnabar/core/testing';
import { z } from '@cinnabar/sdk';

const entrySchema = z.looseObject({ level: z.string(), component: z.string(), message: z.string() });
type FileEntry = z.output<typeof entrySchema>;

/** Stops the bot, so that its log is complete, and reads the log. */
export async function readLogs(host: Pick<TestHost, 'dataDir' | 'stop'>): Promise<readonly FileEntry[]> {
  await host.stop();
  const dir = join(host.dataDir, 'logs');
  return readdirSync(dir)
    .filter((name) => name.startsWith('cinnabar-') && name.endsWith('.log'))
    .flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1))
    .map((text) => entrySchema.parse(JSON.parse(text)));
}
