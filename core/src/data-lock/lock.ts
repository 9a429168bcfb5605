import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CinnabarError, type Clock } from '@cinnabar/sdk';
import { type Holder, readHolder, stateOf, thisProcess } from './holder.js';

const NAME = 'lock';
const BEAT_MS = 20_000;
/** A holder that cannot be seen is gone when it has not touched its lock for this long. */
const SILENT_MS = 60_000;

/** The right to write to a folder of data. */
export interface DataLock {
  /** When the process that held it before gave its last sign of life, if it ended without releasing it; in milliseconds since the Unix epoch. */
  readonly abandonedAt: number | undefined;
  /** Idempotent. */
  release(): void;
}

/** Locks that this very process holds. */
const held = new Set<string>();

/**
 * Makes sure that no other process writes to the folder. The lock of a process that has died is taken over.
 * @throws CinnabarError CINNABAR_DATA_IN_USE with the other process's id
 */
export function lockData(dataDir: string, clock: Clock): DataLock {
  const path = join(resolve(dataDir), NAME);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (held.has(path)) throw inUse(dataDir, thisProcess());
  const own = JSON.stringify(thisProcess());
  let abandonedAt: number | undefined;
  while (!create(path, own)) {
    const touchedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (removeAbandoned(dataDir, path, clock)) abandonedAt = touchedAt;
  }
  held.add(path);

  let cancel: () => void = () => undefined;
  const beat = () => {
    touch(path, clock);
    cancel = clock.after(BEAT_MS, beat);
  };
  beat();
  return {
    abandonedAt,
    release() {
      cancel();
      if (!held.delete(path)) return;
      // A lock that was taken over meanwhile (this process slept for minutes) is not ours to remove.
      if (textOf(path) === own) rmSync(path, { force: true });
    },
  };
}

/** `false` when there is one. In one step and with its content, so that nobody ever sees a half-written lock. */
function create(path: string, content: string): boolean {
  const draft = asideOf(path);
  writeFileSync(draft, content, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * @returns whether this process has removed it
 * @throws CINNABAR_DATA_IN_USE unless the lock was left behind, or is gone by now
 */
function removeAbandoned(dataDir: string, path: string, clock: Clock): boolean {
  const text = textOf(path);
  if (text === undefined) return false;
  const holder = readHolder(text);
  const state = stateOf(holder);
  if (state === 'running' || (state === 'unknown' && silentForMs(path, clock) < SILENT_MS))
    throw inUse(dataDir, holder);

  const aside = asideOf(path);
  try {
    renameSync(path, aside);
  } catch {
    // Somebody else was faster.
    return false;
  }
  // Between the look and the move a third process may have put its own there: that one is given back.
  const isOther = textOf(aside) !== text;
  if (isOther) linkSync(aside, path);
  rmSync(aside, { force: true });
  return !isOther;
}

function silentForMs(path: string, clock: Clock): number {
  return clock.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

function touch(path: string, clock: Clock): void {
  const now = new Date(clock.now());
  try {
    utimesSync(path, now, now);
  } catch {
    // The folder may have been removed under us: there is nothing left to guard.
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function asideOf(path: string): string {
  return `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
}

function inUse(dataDir: string, holder: Holder | undefined): CinnabarError {
  const where = holder === undefined || holder.host === thisProcess().host ? '' : ` on ${holder.host}`;
  const who = holder === undefined ? 'another process' : `process ${holder.pid}${where}`;
  return new CinnabarError('CINNABAR_DATA_IN_USE', { folder: dataDir, holder: who });
}
