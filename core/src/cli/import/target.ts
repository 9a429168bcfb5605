import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { makeFolder, readYaml, replaceFile } from '@cinnabar/sdk';
import { parseDocument, stringify } from 'yaml';
import type { Findings } from './findings.js';

const NEW_FILE_MODE = 0o644;

export interface TargetOptions {
  readonly dryRun: boolean;
  readonly overwrite: boolean;
  /** The path as people know it. */
  readonly shown: string;
  readonly from: string;
}

/**
 * Adds values to a YAML file; its comments stay. Keys that are there with another value stay too, unless `overwrite`: then the
 * file as it was is kept beside it.
 * @returns the keys that were (or would be) written
 */
export async function addToFile(
  path: string,
  values: Readonly<Record<string, unknown>>,
  { dryRun, overwrite, shown, from }: TargetOptions,
  findings: Findings,
): Promise<readonly string[]> {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const reading = readYaml(before ?? '');
  if (!reading.ok) {
    findings.conflict(`${shown}:${reading.line}: ${reading.problem}; nothing was added to it`);
    return [];
  }
  const present = reading.values;
  const differing = Object.keys(values).filter(
    (key) => key in present && present[key] !== null && !isDeepStrictEqual(present[key], values[key]),
  );
  if (!overwrite) {
    for (const key of differing)
      findings.conflict(`${shown}:${reading.lineOf([key])}: ${key} is there already with another value, and stays`);
  }
  const written = Object.keys(values).filter(
    (key) => !(key in present) || present[key] === null || (overwrite && differing.includes(key)),
  );
  if (written.length === 0 || dryRun) return written;

  // People read and edit it, unlike the data: a new folder and a new file have the usual rights.
  await mkdir(dirname(path), { recursive: true });
  await makeFolder(dirname(path));
  const mode = before === undefined ? NEW_FILE_MODE : statSync(path).mode & 0o777;
  if (before !== undefined && differing.length > 0 && overwrite) {
    await replaceFile(`${path}.before-import`, before, { mode });
    findings.note(`${shown}: ${differing.join(', ')} replaced; the file as it was is ${shown}.before-import`);
  }
  const added = Object.fromEntries(written.map((key) => [key, values[key]]));
  const content = before === undefined ? `# Taken over from ${from}.\n${stringify(added)}` : withKeys(before, added);
  // Through a link, as an editor would.
  await replaceFile(before === undefined ? path : realpathSync(path), content, { mode });
  return written;
}

function withKeys(before: string, added: Readonly<Record<string, unknown>>): string {
  const document = parseDocument(before);
  // A file of nothing but comments.
  if (document.contents === null) return `${before.trimEnd()}\n${stringify(added)}`;
  for (const [key, value] of Object.entries(added)) document.set(key, value);
  return document.toString();
}
