import { join } from 'node:path';
import type { DocumentPath } from '../../driver.js';
import { encodeSegment } from './names.js';

/** Where a document and its copies are. Every file of it begins with `stem.`, and no file of another document does. */
export interface Place {
  readonly folder: string;
  readonly stem: string;
  /** The document. */
  readonly file: string;
  /** What the document was after the last write that succeeded. */
  readonly lastGood: string;
}

export const DOCUMENT = '.json';
export const LAST_GOOD = '.last-good';

export function placeOf(root: string, path: DocumentPath): Place {
  const names = path.flatMap(encodeSegment);
  const stem = names.pop() ?? '';
  const folder = join(root, ...names);
  return { folder, stem, file: join(folder, `${stem}${DOCUMENT}`), lastGood: join(folder, `${stem}${LAST_GOOD}`) };
}

export function folderOf(root: string, prefix: DocumentPath): string {
  return join(root, ...prefix.flatMap(encodeSegment));
}
