import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from '@cinnabar/sdk';

const names = z.record(z.string(), z.unknown()).default({});
const packageSchema = z.object({
  name: z.string().optional(),
  version: z.string().default('0.0.0'),
  description: z.string().default(''),
  main: z.string().optional(),
  exports: z.unknown().optional(),
  keywords: z.array(z.string()).default([]),
  dependencies: names,
  optionalDependencies: names,
  cinnabar: z.object({ guard: z.boolean().default(false) }).optional(),
});
export type PackageFile = z.output<typeof packageSchema>;

/**
 * Reads a folder's package.json; `undefined` when it has none.
 * @throws Error in plain words when it cannot be read or is malformed
 */
export async function readPackageFile(folder: string): Promise<PackageFile | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const parsed = packageSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`its package.json is not right: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`its package.json is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
