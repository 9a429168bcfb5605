import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { openLogs } from './harness.js';

const textOf = (dir: string, kind: string) =>
  readdirSync(dir)
    .filter((name) => name.startsWith(kind))
    .map((name) => readFileSync(join(dir, name), 'utf8'))
    .join('');

describe('log files on a disk that is full', () => {
  before(function () {
    // Only Linux has a device that refuses every byte, like a full disk.
    if (process.platform !== 'linux') this.skip();
  });

  it('go on by themselves once there is room, and say what is missing', async () => {
    using folder = makeFolder();
    const dir = join(folder.path, 'logs');
    mkdirSync(dir);
    const clock = createManualClock();
    const stream = new PassThrough();
    const logs = openLogs(dir, { console: { stream, level: 'error' }, clock });
    const today = new Date().toISOString().slice(0, 10);
    const file = join(dir, `cinnabar-${today}.log`);
    symlinkSync('/dev/full', file);
    const log = logs.logger('party');
    log.error('first');
    while (!String(stream.read() ?? '').includes('cannot be written')) await turn();
    log.error('second');
    rmSync(file);
    log.error('third');
    clock.advance(10_000);
    log.error('fourth');
    await logs.close();
    const said = readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).message);
    expect(said).to.have.length(2);
    expect(said[0]).to.match(/^2 entries are missing here: .* \(ENOSPC: no space left on device, write\)$/);
    expect(said[1]).to.equal('fourth');
    expect(String(stream.read()), 'once an hour').to.not.include('cannot be written');
  });
});

describe('log files', () => {
  it('take no more than is allowed together: the oldest go, the audit last', async () => {
    using folder = makeFolder();
    const dir = join(folder.path, 'logs');
    const logs = openLogs(dir, { maxMegabytes: 1 });
    logs.audit({ callId: 'kept' });
    for (let line = 0; line < 220; line += 1) {
      logs.logger('party').info(`line ${line}`, { text: 'x y '.repeat(2_000) });
      // In turns, as fast as the disk accepts them.
      for (let turns = 0; turns < 5; turns += 1) await turn();
    }
    await logs.close();
    const total = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
    expect(total).to.be.within(500_000, 1_000_000);
    expect(textOf(dir, 'cinnabar')).to.include('line 219').and.to.not.include('line 0"');
    expect(textOf(dir, 'audit')).to.include('kept');
  });

  it('are opened again when their folder was removed', async () => {
    using folder = makeFolder();
    const dir = join(folder.path, 'logs');
    const clock = createManualClock();
    const logs = openLogs(dir, { clock });
    logs.logger('party').error('before');
    rmSync(dir, { recursive: true });
    clock.advance(60_000);
    logs.logger('party').error('after');
    await logs.close();
    expect(textOf(dir, 'cinnabar')).to.include('after');
  });
});
