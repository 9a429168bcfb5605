import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError, z } from '@cinnabar/sdk';
import { KEYWORD } from '../plugins/discovery.js';

const packageSchema = z.object({
  keywords: z.array(z.string()).default([]),
  dependencies: z.record(z.string(), z.unknown()).default({}),
});

/**
 * What a folder's package.json makes of it: a plugin's project, a bot's, or `undefined` for neither's.
 * @throws UserError for one that is not JSON
 */
export function projectKind(folder: string): 'plugin' | 'bot' | undefined {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  const { keywords = [], dependencies = {} } = packageSchema.safeParse(readJson(file)).data ?? {};
  if (keywords.includes(KEYWORD)) return 'plugin';
  return dependencies.cinnabar === undefined ? undefined : 'bot';
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new UserError(`${file} cannot be read as JSON.`, { cause });
  }
}
