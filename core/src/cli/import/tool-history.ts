import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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
export function moveHistory({ from, to, shown, dryRun }: HistoryMove, findings: Findings): number {
  let moved = 0;
  for (const channel of listing(from).folders) {
    if (!isSnowflake(channel)) {
      findings.leftOut(`${shown}/${channel}: its name is not that of a channel's folder`);
      continue;
    }
    for (const name of listing(join(from, channel)).files) {
      if (!HOUR_FILE.test(name))
        findings.leftOut(`${shown}/${channel}/${name}: its name is not that of an hour's file`);
      else moved += moveHour(join(channel, name));
    }
  }
  return moved;

  function moveHour(file: string): number {
    const { lines, damaged } = linesIn(join(from, file));
    if (damaged > 0) findings.leftOut(`${shown}/${file}: ${damaged} of its lines cannot be read`);
    const target = join(to, file);
    const there = new Set(existsSync(target) ? linesIn(target).lines.map(({ id }) => id) : []);
    const fresh = lines.filter(({ id }) => !there.has(id));
    if (fresh.length > 0 && !dryRun) {
      mkdirSync(join(target, '..'), { recursive: true, mode: 0o700 });
      appendFileSync(target, fresh.map(({ line }) => `${line}\n`).join(''), { mode: 0o600 });
    }
    return fresh.length;
  }
}

function linesIn(path: string) {
  const all = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(convertLine);
  const lines = all.filter((line) => line !== undefined);
  return { lines, damaged: all.length - lines.length };
}
