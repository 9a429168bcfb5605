import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, replaceFile } from '@cinnabar/sdk';
import { isSnowflake } from '../../config/names.js';
import type { Findings } from './findings.js';
import { listing } from './listing.js';
import { convertLine } from './tool-line.js';

const HOUR_FILE = /^\d{4}-\d{2}-\d{2}-\d{2}\.jsonl$/;

export interface HistoryMove {
  /** Folder with a folder for each channel. */
  readonly from: string;
  /** The same here. */
  readonly to: string;
  /** For messages. */
  readonly shown: string;
  readonly dryRun: boolean;
}

/** Adds the tool calls of another program to those that are kept here; a call that is here already is not added again. */
export async function moveHistory({ from, to, shown, dryRun }: HistoryMove, findings: Findings): Promise<number> {
  let moved = 0;
  for (const channel of listing(from).folders) {
    if (!isSnowflake(channel)) {
      findings.leftOut(`${shown}/${channel}: its name is not that of a channel's folder`);
      continue;
    }
    for (const name of listing(join(from, channel)).files) {
      if (!HOUR_FILE.test(name))
        findings.leftOut(`${shown}/${channel}/${name}: its name is not that of an hour's file`);
      else moved += await moveHour(join(channel, name));
    }
  }
  return moved;

  async function moveHour(file: string): Promise<number> {
    const { lines, damaged } = linesOf(readFileSync(join(from, file), 'utf8'));
    if (damaged > 0) findings.leftOut(`${shown}/${file}: ${damaged} of its lines cannot be read`);
    const target = join(to, file);
    const before = existsSync(target) ? readFileSync(target, 'utf8') : '';
    const there = new Set(linesOf(before).lines.map(({ id }) => id));
    const fresh = lines.filter(({ id }) => !there.has(id));
    if (fresh.length > 0 && !dryRun) {
      await makeFolder(dirname(target));
      const kept = before === '' || before.endsWith('\n') ? before : `${before}\n`;
      await replaceFile(target, kept + fresh.map(({ line }) => `${line}\n`).join(''));
    }
    return fresh.length;
  }
}

function linesOf(text: string) {
  const all = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(convertLine);
  const lines = all.filter((line) => line !== undefined);
  return { lines, damaged: all.length - lines.length };
}
