import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { leftUnfinished, removeFiles } from '@cinnabar/sdk';
import type { DocumentPath } from '../../driver.js';
import { entriesOf } from './files.js';
import { decodeSegment, isContinued } from './names.js';

/** What conf leaves when the process is killed in the middle of a write. Its writes are synchronous, so no live one is ever seen. */
const LEFT_BY_CONF = /\.json\.tmp-[0-9a-f]+$/;

/** A folder on the way: the segments above it, and the pieces of a long segment that has begun but not ended. */
interface Visit {
  readonly folder: string;
  readonly path: DocumentPath;
  readonly pieces: readonly string[];
}

/** The documents below a folder, each once whatever copies there are. Foreign files are passed over; left-over temporary files are removed. */
export async function walk(folder: string, path: DocumentPath): Promise<readonly DocumentPath[]> {
  const found: DocumentPath[] = [];
  const visits: Visit[] = [{ folder, path, pieces: [] }];
  for (let visit = visits.pop(); visit !== undefined; visit = visits.pop()) {
    const entries = await entriesOf(visit.folder);
    for (const entry of entries) {
      const inside = entry.isDirectory() ? enter(visit, entry.name) : undefined;
      if (inside !== undefined) visits.push(inside);
    }
    const { names, leftBehind } = sortFiles(visit.folder, entries);
    await removeFiles(visit.folder, leftBehind);
    for (const stem of new Set(names.map((name) => name.slice(0, name.indexOf('.'))))) {
      const segment = decodeSegment([...visit.pieces, stem]);
      if (segment !== undefined) found.push([...visit.path, segment]);
    }
  }
  return found;
}

function enter(from: Visit, name: string): Visit | undefined {
  const folder = join(from.folder, name);
  const pieces = [...from.pieces, name];
  if (isContinued(name)) return { folder, path: from.path, pieces };
  const segment = decodeSegment(pieces);
  return segment === undefined ? undefined : { folder, path: [...from.path, segment], pieces: [] };
}

function sortFiles(folder: string, entries: readonly Dirent[]) {
  const files = entries.filter((entry) => !entry.isDirectory() && entry.name.includes('.')).map((entry) => entry.name);
  const unfinished = leftUnfinished(folder, files);
  const isWhole = (name: string) => !LEFT_BY_CONF.test(name) && !name.endsWith('.new');
  return {
    names: files.filter(isWhole),
    leftBehind: [...files.filter((name) => LEFT_BY_CONF.test(name)), ...unfinished],
  };
}
