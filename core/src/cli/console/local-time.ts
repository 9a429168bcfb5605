import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CinnabarError, replaceFile, z } from '@cinnabar/sdk';
import { createShiftableClock, createSystemClock, type ShiftableClock } from '../../clock/clock.js';

const FILE = 'console-clock.json';
const CONTENT = z.object({ aheadMs: z.number().min(0) });

export interface LocalTime {
  readonly clock: ShiftableClock;
  /** Moves the clock forward, and remembers that it is ahead. See `ShiftableClock.advance`. */
  advance(byMs: number, settled: () => Promise<void>): Promise<void>;
}

/**
 * The clock of the console. How far `wait` has moved it is kept with the data: times that were stored in one run must not lie in the future of the
 * next.
 * @throws CinnabarError CINNABAR_CONFIG_INVALID when what was kept cannot be read
 */
export function openLocalTime(dataDir: string): LocalTime {
  const file = join(dataDir, FILE);
  const clock = createShiftableClock(createSystemClock(), aheadOf(file));
  return {
    clock,
    async advance(byMs, settled) {
      // Before it moves: whenever the process dies, no time that it has stored is later than what stands here.
      await replaceFile(file, JSON.stringify({ aheadMs: clock.aheadMs + byMs }));
      await clock.advance(byMs, settled);
    },
  };
}

function aheadOf(file: string): number {
  try {
    return CONTENT.parse(JSON.parse(readFileSync(file, 'utf8'))).aheadMs;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
    const detail = `${file} says how far the console's clock is ahead, and cannot be read; remove it to start with the machine's time`;
    throw new CinnabarError('CINNABAR_CONFIG_INVALID', { detail }, { cause: error });
  }
}
