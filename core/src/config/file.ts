import { readFileSync } from 'node:fs';
import { CinnabarError } from '@cinnabar/sdk';
import { isCollection, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';

const LARGEST_FILE_BYTES = 1_000_000;

/** What `shared.yaml` may hold. Every key has a comment in `config/shared.yaml`. */
export const fileSchema = z.strictObject({
  host: z
    .strictObject({
      prefixes: z.array(z.string().min(1).max(10)).min(1).max(10).optional(),
      owners: z.array(z.string().regex(/^\d{15,22}$/, 'must be a Discord user id, in quotes')).optional(),
      discordApi: z.url().optional(),
      logLevel: z.enum(['error', 'warn', 'info', 'debug']).optional(),
      plugins: z
        .strictObject({ folders: z.array(z.string()).optional(), disabled: z.array(z.string()).optional() })
        .optional(),
    })
    .optional(),
  settings: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
});
export type ConfigFile = z.output<typeof fileSchema>;

/**
 * Reads one YAML file of the configuration; a missing one is an empty one.
 * @throws CinnabarError CINNABAR_CONFIG_INVALID with file, line, key and what would be right
 */
export function readConfigFile(path: string): ConfigFile {
  const text = readIfThere(path);
  if (text === undefined) return {};
  const fail = (line: number, detail: string): never => {
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail: `${path}:${line}: ${detail}` });
  };
  if (text.length > LARGEST_FILE_BYTES) fail(1, 'the file is larger than 1 MB');

  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [syntax] = document.errors;
  if (syntax !== undefined) fail(lines.linePos(syntax.pos[0]).line, syntax.message.split('\n')[0] ?? 'not valid YAML');

  const parsed = fileSchema.safeParse(toPlain(document) ?? fail(1, 'too many aliases'));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue?.path.map(String) ?? [];
  return fail(lineOf(document, lines, key), `${key.join('.') || 'the file'}: ${issue?.message ?? 'not valid'}`);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    const detail = `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail }, { cause: error });
  }
}

/** `undefined` when its aliases multiply without measure. */
function toPlain(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 20 }) ?? {};
  } catch {
    return undefined;
  }
}

/** The line of a key, or of the nearest part of it that exists. */
function lineOf(document: ReturnType<typeof parseDocument>, lines: LineCounter, key: readonly string[]): number {
  for (let length = key.length; length > 0; length--) {
    const node = document.getIn(key.slice(0, length), true);
    const start = isCollection(node) || hasRange(node) ? node.range?.[0] : undefined;
    if (start !== undefined) return lines.linePos(start).line;
  }
  return 1;
}

function hasRange(node: unknown): node is { readonly range: readonly [number, number, number] | null } {
  return typeof node === 'object' && node !== null && 'range' in node;
}
