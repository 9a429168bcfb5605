import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import sinon from 'sinon';
import { openLogs } from './harness.js';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1, 12);

describe('log files over the days', () => {
  it('are kept for 30 days', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'cinnabar-rotation-'));
    // The rotation uses the machine's clock.
    const time = sinon.useFakeTimers({ now: START, toFake: ['Date'] });
    try {
      // The host is restarted every day, so that each day's files are on the disk before the next day.
      for (let day = 0; day < 40; day += 1) {
        const logs = openLogs(dir, { clock: createManualClock(Date.now()) });
        logs.logger('party').error(`day ${day}`);
        logs.audit({ day });
        await logs.close();
        time.tick(DAY);
      }
      for (const name of ['cinnabar', 'errors', 'audit']) {
        const files = readdirSync(dir).filter((file) => file.startsWith(name));
        expect(files, name).to.have.length.within(30, 31);
        expect(files, name).to.include(`${name}-2026-02-09.log`);
        expect(files, name).to.not.include(`${name}-2026-01-09.log`);
      }
    } finally {
      time.restore();
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('are all written when they are closed, however many days have begun meanwhile', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'cinnabar-rotation-'));
    const time = sinon.useFakeTimers({ now: START, toFake: ['Date'] });
    try {
      const logs = openLogs(dir);
      for (let day = 1; day <= 20; day += 1) {
        logs.logger('party').warn(`day ${day}`);
        time.tick(DAY);
      }
      await logs.close();
      const names = readdirSync(dir).filter((name) => name.startsWith('cinnabar-'));
      const days = names.sort().map((name) => /"day \d+"/.exec(readFileSync(join(dir, name), 'utf8'))?.[0]);
      expect(days).to.deep.equal(Array.from({ length: 20 }, (_, index) => `"day ${index + 1}"`));
    } finally {
      time.restore();
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('are one a day in UTC, changed without a restart', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'cinnabar-rotation-'));
    const time = sinon.useFakeTimers({ now: Date.UTC(2026, 0, 1, 23, 59), toFake: ['Date'] });
    try {
      const logs = openLogs(dir);
      logs.logger('party').warn('late');
      time.tick(120_000);
      logs.logger('party').warn('early');
      await logs.close();
      const text = (day: string) => readFileSync(join(dir, `cinnabar-${day}.log`), 'utf8');
      expect(text('2026-01-01')).to.contain('late').and.to.not.contain('early');
      expect(text('2026-01-02')).to.contain('early').and.to.not.contain('late');
    } finally {
      time.restore();
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
