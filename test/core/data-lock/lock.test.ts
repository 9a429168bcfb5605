import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { join } from 'node:path';
import { claimName, lockData, thisProcess } from '@cinnabar/core/internal/data-lock/lock';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { makeFolder } from '../../support/folder.js';

/** A separate process that holds the lock. */
async function otherProcess(dataDir: string) {
  const program = `
    import { lockData } from '@cinnabar/core/internal/data-lock/lock';
    await lockData(process.argv[1], { now: Date.now, after: () => () => undefined });
    console.log('held');
    process.stdin.resume();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, said: String(said).trim() };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

describe('the lock on a folder of data', () => {
  it('keeps a second owner out and names the first', async () => {
    using folder = makeFolder();
    const clock = createManualClock();
    const lock = await lockData(folder.path, clock);
    const error = await failure('CINNABAR_DATA_IN_USE', () => lockData(folder.path, clock));
    expect(error.message).to.include(folder.path).and.include(`process ${process.pid}.`);
    lock.release();
    (await lockData(folder.path, clock)).release();
    expect(clock.pending).to.equal(0);
  });

  it('does not keep out the process of another container that has its own data at the same path', async () => {
    using folder = makeFolder();
    const claims = [
      await claimName(folder.path, 'one', 'pid:[1]'),
      await claimName(folder.path, 'two', 'pid:[2]'),
    ] as const;
    expect(claims.map(({ holder }) => holder)).to.deep.equal([undefined, undefined]);
    for (const claim of claims) claim.release();
  });

  it('makes the folder when it is not there', async () => {
    using folder = makeFolder();
    const dataDir = join(folder.path, 'data', 'bots', 'claude');
    (await lockData(dataDir, createManualClock())).release();
    (await lockData(dataDir, createManualClock())).release();
  });

  it('is held against other processes, until they are dead, however they died', async () => {
    using folder = makeFolder();
    const first = await otherProcess(folder.path);
    try {
      expect(first.said).to.equal('held');
      const error = await failure('CINNABAR_DATA_IN_USE', () => lockData(folder.path, createManualClock()));
      expect(error.message).to.include(`process ${first.child.pid}.`);
    } finally {
      first.child.kill('SIGKILL');
      await once(first.child, 'exit');
    }
    (await lockData(folder.path, createManualClock())).release();
  });

  it('does not take a later process of the same id for the one that died', async () => {
    using folder = makeFolder();
    const clock = createManualClock();
    const { birth, ...holder } = { ...thisProcess(), pid: process.ppid };
    const earlier = { ...holder, birth: `${birth?.split(' ')[0]} 1` };
    writeFileSync(join(folder.path, 'lock'), JSON.stringify(earlier));
    (await lockData(folder.path, clock)).release();
  });

  it('of a machine that was started again since counts no more; of another machine of that name it does', async () => {
    using folder = makeFolder();
    const clock = createManualClock(Date.now());
    const path = join(folder.path, 'lock');
    writeFileSync(path, JSON.stringify({ pid: process.ppid, host: hostname(), birth: 'another-boot 1' }));
    const error = await failure('CINNABAR_DATA_IN_USE', () => lockData(folder.path, clock));
    expect(error.message).to.match(/process \d+ \(last sign of life \d s ago\); .* try again then/);
    const beforeBoot = new Date(Date.now() - uptime() * 1000 - 60_000);
    utimesSync(path, beforeBoot, beforeBoot);
    (await lockData(folder.path, clock)).release();
  });

  it('of another container of the same name, whose numbers of processes are its own, is not taken for that of a dead one', async () => {
    using folder = makeFolder();
    const clock = createManualClock(Date.now());
    const container = { ...thisProcess(), namespace: 'pid:[1]' };
    writeFileSync(join(folder.path, 'lock'), JSON.stringify(container));
    const error = await failure('CINNABAR_DATA_IN_USE', () => lockData(folder.path, clock));
    expect(error.message).to.include(`process ${process.pid} (last sign of life`);
  });

  it('of one that cannot be seen is waited for: with a sentence, and until it gives a sign or has been silent for a minute', async () => {
    using folder = makeFolder();
    const clock = createManualClock();
    const path = join(folder.path, 'lock');
    const leave = () => {
      writeFileSync(path, '');
      utimesSync(path, clock.now() / 1000, clock.now() / 1000);
    };
    const sentences: string[] = [];
    const lockLater = () => lockData(folder.path, clock, { onWait: (sentence) => sentences.push(sentence) });
    const moved = async (ms: number) => {
      for (let at = 0; at < ms; at += 1_000) {
        await new Promise(setImmediate);
        clock.advance(1_000);
      }
    };
    leave();
    const waiting = lockLater();
    await until(() => clock.pending > 0);
    await moved(60_000);
    (await waiting).release();
    expect(sentences).to.have.length(1);
    expect(sentences[0]).to.match(
      /a process that has left no name .* \(last sign of life 0 s ago\). Waiting up to 60 s/,
    );

    leave();
    const refused = failure('CINNABAR_DATA_IN_USE', lockLater);
    await until(() => clock.pending > 0);
    await moved(5_000);
    leave();
    await moved(2_000);
    await refused;
  });

  it('keeps a second process out although the folder is removed, and tells its owner that it is gone', async () => {
    using folder = makeFolder();
    const first = await otherProcess(folder.path);
    try {
      rmSync(folder.path, { recursive: true });
      const error = await failure('CINNABAR_DATA_IN_USE', () => lockData(folder.path, createManualClock()));
      expect(error.message).to.include(`process ${first.child.pid}.`);
    } finally {
      first.child.kill('SIGKILL');
      await once(first.child, 'exit');
    }
    const clock = createManualClock();
    const lost: string[] = [];
    const lock = await lockData(folder.path, clock, { onLost: ({ message }) => lost.push(message) });
    lock.check();
    rmSync(folder.path, { recursive: true });
    expect(() => lock.check()).to.throw('was removed');
    clock.advance(20_000);
    expect(lost).to.deep.equal(['the lock of this process was removed']);
    lock.release();
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
    const lock = await lockData(folder.path, clock);
    expect(JSON.parse(readFileSync(path, 'utf8'))).to.include({ pid: process.pid });
    lock.release();
  });

  it('is touched for as long as it is held', async () => {
    using folder = makeFolder();
    const clock = createManualClock();
    const lock = await lockData(folder.path, clock);
    clock.advance(600_000);
    expect(clock.now() - statSync(join(folder.path, 'lock')).mtimeMs).to.be.below(60_000);
    lock.release();
    expect(clock.pending).to.equal(0);
  });

  it('that cannot be parsed is taken over when it has not changed for a minute', async () => {
    using folder = makeFolder({ lock: '{"pid":' });
    (await lockData(folder.path, createManualClock())).release();
  });
});
