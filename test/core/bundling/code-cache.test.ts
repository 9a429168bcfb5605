import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCached, saveCodeCaches } from '@cinnabar/core/internal/process/code-cache';
import { mapStackFrames } from '@cinnabar/core/internal/process/source-maps';
import { holdYoungGeneration, releaseYoungGeneration } from '@cinnabar/core/internal/process/young-generation';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

describe('V8’s code cache', () => {
  const one = '(function () { return "one"; })';
  const two = '(function () { return "two"; })';
  const value = (code: string, file: string) => {
    const run = runCached(Buffer.from(code), file);
    return typeof run === 'function' ? run() : run;
  };

  it('is kept once, and used by the next run of the same script only', async () => {
    using folder = makeFolder();
    const [file, cache] = [join(folder.path, 'a.cjs'), join(folder.path, 'a.v8')];
    expect(value(one, file)).to.equal('one');
    await saveCodeCaches();
    const kept = readFileSync(cache);
    expect(value(one, file)).to.equal('one');
    await saveCodeCaches();
    expect(readFileSync(cache)).to.deep.equal(kept);
    // It has the same length as the other file: V8 compares only the length.
    expect(value(two, file)).to.equal('two');
    await saveCodeCaches();
    expect(readFileSync(cache)).to.not.deep.equal(kept);
  });

  it('is the same while the young generation is held small, as during a start', async () => {
    using folder = makeFolder();
    const [file, cache] = [join(folder.path, 'a.cjs'), join(folder.path, 'a.v8')];
    holdYoungGeneration();
    expect(value(one, file)).to.equal('one');
    releaseYoungGeneration();
    await saveCodeCaches();
    const kept = readFileSync(cache);
    holdYoungGeneration();
    expect(value(one, file)).to.equal('one');
    releaseYoungGeneration();
    // V8's output differs each time, but Node writes the file only when the existing cache was refused.
    await saveCodeCaches();
    expect(readFileSync(cache)).to.deep.equal(kept);
  });

  it('is kept without what a killed process has left, but for what another is writing', async () => {
    using folder = makeFolder();
    const unfinished = (name: string) => join(folder.path, `${name}.v8.${randomUUID()}.new`);
    const [left, written] = [unfinished('a'), unfinished('b')];
    for (const file of [left, written]) writeFileSync(file, 'half');
    utimesSync(left, new Date(0), new Date(0));
    value(one, join(folder.path, 'c.cjs'));
    await saveCodeCaches();
    expect(readdirSync(folder.path).sort()).to.deep.equal([basename(written), 'c.v8']);
  });

  it('is not used when it is damaged, which V8 itself does not notice', async () => {
    using folder = makeFolder();
    const [file, cache] = [join(folder.path, 'a.cjs'), join(folder.path, 'a.v8')];
    value(one, file);
    await saveCodeCaches();
    const kept = readFileSync(cache);
    const damaged = Buffer.from(kept);
    damaged[damaged.length - 20] = (damaged.at(-20) ?? 0) ^ 0xff;
    writeFileSync(cache, damaged);
    expect(value(one, file)).to.equal('one');
    await saveCodeCaches();
    expect(readFileSync(cache)).to.not.deep.equal(damaged);
  });

  it('does without a cache that is cut off, and in a folder that is gone', async () => {
    const folder = makeFolder();
    const [file, cache] = [join(folder.path, 'a.cjs'), join(folder.path, 'a.v8')];
    value(one, file);
    await saveCodeCaches();
    truncateSync(cache, 100);
    expect(value(one, file)).to.equal('one');
    folder[Symbol.dispose]();
    await saveCodeCaches();
    expect(existsSync(cache)).to.equal(false);
  });
});

describe('the young generation', () => {
  it('does not grow while it is held, and does afterwards', () => {
    // Runs in a separate process, because the heap of the tests' process is too large.
    const code = `
      import { getHeapSpaceStatistics } from 'node:v8';
      import { holdYoungGeneration, releaseYoungGeneration } from '@cinnabar/core/internal/process/young-generation';
      const sizeAfterWork = () => {
        const kept = Array.from({ length: 300_000 }, (_, at) => ({ at }));
        return kept.length && getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size;
      };
      holdYoungGeneration();
      const held = sizeAfterWork();
      releaseYoungGeneration();
      console.log(JSON.stringify([held, sizeAfterWork()]));`;
    const cwd = dirname(fileURLToPath(import.meta.url));
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd, encoding: 'utf8' });
    const [held, grown]: readonly number[] = JSON.parse(output);
    expect(held).to.be.below(6_000_000);
    expect(grown).to.be.above(6_000_000);
  });
});

describe('stack traces of built files', () => {
  it('show the line of the source, and the built line where the map cannot be read', () => {
    using folder = makeFolder();
    const file = join(folder.path, 'built.cjs');
    const stackOf = () => {
      const fail = runCached(Buffer.from('(function () { return new Error("no"); })'), file);
      const error: unknown = typeof fail === 'function' ? fail() : undefined;
      return error instanceof Error ? (error.stack ?? '') : '';
    };
    mapStackFrames(file, () => ({
      file: 'built.cjs',
      version: 3,
      sources: ['src/a.ts'],
      sourcesContent: [],
      names: [],
      mappings: 'AAEA',
      sourceRoot: '',
    }));
    expect(stackOf())
      .to.match(/^Error: no\n/)
      .and.include(`${join(folder.path, 'src', 'a.ts')}:3:`);
    mapStackFrames(file, () => {
      throw new Error('it is gone');
    });
    expect(stackOf())
      .to.match(/^Error: no\n/)
      .and.include(`${file}:1:`);
  });

  it('look up no position for the errors with which undici ends an idle connection', () => {
    using folder = makeFolder();
    const file = join(folder.path, 'idle.cjs');
    let reads = 0;
    mapStackFrames(file, () => {
      reads += 1;
      return undefined;
    });
    const stackOf = (code: string, message: string) => {
      const make = runCached(Buffer.from('(function (message) { return new Error(message); })'), file);
      const error: unknown = typeof make === 'function' ? make(message) : undefined;
      return error instanceof Error ? Object.assign(error, { code }).stack : '';
    };
    expect(stackOf('UND_ERR_INFO', 'socket idle timeout')).to.equal('Error: socket idle timeout');
    expect(stackOf('UND_ERR_SOCKET', 'other side closed')).to.equal('Error: other side closed');
    expect(reads).to.equal(0);
    expect(stackOf('UND_ERR_SOCKET', 'bad response')).to.include(`${file}:1:`);
    expect(reads).to.equal(1);
  });
});
