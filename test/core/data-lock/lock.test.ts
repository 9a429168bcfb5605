import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { lockData } from '@cinnabar/core/internal/data-lock/lock';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { makeFolder } from '../../support/folder.js';

/** A process of its own that holds the lock and says so. */
async function otherProcess(dataDir: string) {
  const program = `
    import { lockData } from '@cinnabar/core/internal/data-lock/lock';
    try {
      lockData(process.argv[1], { now: Date.now, after: () => () => undefined });
      console.log('held');
      process.stdin.resume();
    } catch (error) {
      console.log(error.message);
    }
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, said: String(said).trim() };
}

describe('the lock on a folder of data', () => {
  it('keeps a second owner out and names the first', async () => {
    using folder = makeFolder();
    const clock = createManualClock();
    const lock = lockData(folder.path, clock);
    const error = await failure('CINNABAR_DATA_IN_USE', () => lockData(folder.path, clock));
    expect(error.message).to.include(folder.path).and.include(`process ${process.pid}.`);
    lock.release();
    lockData(folder.path, clock).release();
    expect(clock.pending).to.equal(0);
  });

  it('makes the folder when it is not there', () => {
    using folder = makeFolder();
    const dataDir = join(folder.path, 'data', 'bots', 'claude');
    lockData(dataDir, createManualClock()).release();
    lockData(dataDir, createManualClock()).release();
  });

  it('is held against other processes, until they are dead, however they died', async () => {
    using folder = makeFolder();
    const first = await otherProcess(folder.path);
    try {
      expect(first.said).to.equal('held');
      const second = await otherProcess(folder.path);
      expect(second.said).to.include(`process ${first.child.pid}.`);
      await failure('CINNABAR_DATA_IN_USE', () => lockData(folder.path, createManualClock()));
    } finally {
      first.child.kill('SIGKILL');
      await once(first.child, 'exit');
    }
    lockData(folder.path, createManualClock()).release();
  });

  it('does not take a later process of the same id for the one that died', () => {
    using folder = makeFolder();
    const clock = createManualClock();
    const holder = { pid: process.ppid, host: hostname(), birth: 'another boot 1' };
    writeFileSync(join(folder.path, 'lock'), JSON.stringify(holder));
    lockData(folder.path, clock).release();
  });

  it('of a machine that cannot be asked counts while it is touched', async () => {
    using folder = makeFolder();
    const clock = createManualClock();
    const path = join(folder.path, 'lock');
    writeFileSync(path, JSON.stringify({ pid: 7, host: 'elsewhere' }));
    const touchedAt = new Date(clock.now());
    utimesSync(path, touchedAt, touchedAt);
    clock.advance(59_000);
    const error = await failure('CINNABAR_DATA_IN_USE', () => lockData(folder.path, clock));
    expect(error.message).to.include('process 7 on elsewhere');
    clock.advance(1_000);
    const lock = lockData(folder.path, clock);
    expect(JSON.parse(readFileSync(path, 'utf8'))).to.include({ pid: process.pid });
    lock.release();
  });

  it('is touched for as long as it is held', () => {
    using folder = makeFolder();
    const clock = createManualClock();
    const lock = lockData(folder.path, clock);
    clock.advance(600_000);
    expect(clock.now() - statSync(join(folder.path, 'lock')).mtimeMs).to.be.below(60_000);
    lock.release();
    expect(clock.pending).to.equal(0);
  });

  it('that says nothing understandable is taken over when nobody has touched it for a minute', async () => {
    using folder = makeFolder({ lock: '{"pid":' });
    lockData(folder.path, createManualClock()).release();
  });
});
