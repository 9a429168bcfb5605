import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Chance } from './chance.js';
import { DOCUMENT_NAMES, type DocumentName, pathOf } from './documents.js';

/** Damage to a document's files between two processes. */
export interface Damage {
  readonly document: DocumentName;
  /** The copies that are unusable. */
  readonly lost: 'document' | 'copy' | 'both';
  /** The content that must be set aside, when the document's file was corrupted and not removed. */
  readonly spoilt: Buffer | undefined;
}

const WAYS = ['truncated', 'emptied', 'scribbled', 'removed'] as const;

/** The paths of a document's file and its last good copy; files that are set aside are in the same folder. No name in the campaign needs encoding. */
function placeOf(root: string, document: DocumentName) {
  const path = join(root, ...pathOf(document));
  return { folder: dirname(path), stem: basename(path), file: `${path}.json`, lastGood: `${path}.last-good` };
}

async function contentOf(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch(() => undefined);
}

/** Sometimes damages the files of one document that is not in `spared`. @returns `undefined` when it did nothing */
export async function damageSomething(
  root: string,
  chance: Chance,
  spared: readonly DocumentName[],
): Promise<Damage | undefined> {
  const lost = chance.pick(['document', 'document', 'copy', 'both']);
  const document = chance.pick(DOCUMENT_NAMES);
  const way = chance.pick(WAYS);
  const place = placeOf(root, document);
  const current = await contentOf(place.file);
  if (chance.below(2) === 0 || current === undefined || spared.includes(document)) return undefined;

  const copy = await contentOf(place.lastGood);
  if (lost !== 'document' && copy !== undefined)
    await spoil(place.lastGood, copy, way === 'removed' ? 'emptied' : way, chance);
  if (lost === 'copy') return { document, lost, spoilt: undefined };
  return { document, lost, spoilt: await spoil(place.file, current, way, chance) };
}

async function spoil(
  file: string,
  content: Buffer,
  way: (typeof WAYS)[number],
  chance: Chance,
): Promise<Buffer | undefined> {
  if (way === 'removed') {
    await rm(file);
    return undefined;
  }
  const spoilt = spoiled(content, way, chance);
  await writeFile(file, spoilt);
  return spoilt;
}

function spoiled(content: Buffer, way: 'truncated' | 'emptied' | 'scribbled', chance: Chance): Buffer {
  if (way === 'emptied') return Buffer.alloc(0);
  // The last bracket and the line break after it are always cut.
  if (way === 'truncated') return content.subarray(0, chance.below(content.length - 2));
  const scribbled = Buffer.from(content);
  const from = chance.below(content.length - 1);
  const length = 1 + chance.below(content.length - from);
  // Neither byte can be part of a JSON text.
  for (let at = from; at < from + length; at += 1) scribbled[at] = chance.pick([0x00, 0xff]);
  return scribbled;
}

/** The contents that were set aside for a document. */
export async function putAside(root: string, document: DocumentName): Promise<readonly Buffer[]> {
  const place = placeOf(root, document);
  const names = await readdir(place.folder).catch(() => []);
  return Promise.all(
    names.filter((name) => name.startsWith(`${place.stem}.corrupt-`)).map((name) => readFile(join(place.folder, name))),
  );
}
