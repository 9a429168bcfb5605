import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { build } from '@cinnabar/core/internal/plugins/build/build';
import { createWorkerPool, createWorkers, type WorkerPool } from '@cinnabar/core/internal/workers/pool';
import { CinnabarError, UserError } from '@cinnabar/sdk';
import { expect } from 'chai';
import { failure } from '../../support/codes.js';
import { makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';
import { ownerOf } from '../plugins/support/harness.js';

const PLUGINS = fileURLToPath(new URL('../../../../plugins', import.meta.url));
/** The code with which a plugin names the module of a worker. */
const WORKER = /\bworker(?:<[^>]*>)?\(\s*new URL\('([^']+)', import\.meta\.url\)/g;

/** The functions of the module below, as a plugin types them with `typeof import(…)`. */
interface Documents {
  where(input: string): { readonly text: string; readonly main: boolean; readonly secrets: number };
  refuse(sentence: string): never;
  spin(input: null): void;
  flood(input: null): number;
  wait(ms: number): Promise<number>;
  starve(ms: number): string;
  modules(input: null): readonly string[];
  mostMb(input: null): number;
}

const SOURCE = `
import { createRequire } from 'node:module';
import { getHeapStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { UserError } from '@cinnabar/sdk/worker';
import { z } from 'zod';
import { VERSION } from './version.js';
export const where = (input: string) =>
  ({ text: z.string().parse(input) + VERSION, main: isMainThread, secrets: Object.keys(process.env).length });
export const refuse = (sentence: string) => { throw new UserError(sentence); };
export const spin = () => { for (;;); };
export const flood = () => { const held: object[] = []; for (;;) held.push(new Array(10_000).fill(held.length)); };
export const wait = (ms: number) => new Promise((resolve) => setTimeout(() => resolve(ms), ms));
export const mostMb = () => getHeapStatistics().heap_size_limit / 2 ** 20;
export const modules = () => Object.keys(createRequire('/').cache);
export const starve = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
`;

describe('worker modules', () => {
  const folder = makeFolder({
    'package.json': '{}',
    'documents.ts': SOURCE,
    'version.ts': 'export const VERSION = 1;',
  });
  const log = recordingLogger();
  const open = (pool: WorkerPool) => {
    const workers = createWorkers(pool, { cacheDir: `${folder.path}/cache`, hostVersion: '0.1.0' });
    const { scope } = ownerOf('reader');
    const url = pathToFileURL(`${folder.path}/documents.js`);
    return { scope, documents: workers.module<Documents>({ id: 'reader', scope }, url) };
  };
  /** For the tests that do not depend on its threads. */
  let pool: WorkerPool;
  before(() => {
    pool = createWorkerPool({ log, threads: 2, memoryMb: 32 });
  });
  after(async () => {
    await pool.close();
    folder[Symbol.dispose]();
  });

  it('run TypeScript of a plugin in another thread, with none of the environment', async () => {
    expect(isMainThread).to.equal(true);
    const fresh = createWorkerPool({ log });
    const { documents } = open(fresh);
    expect(fresh.size).to.equal(0);
    expect(await documents.run('where', 'v')).to.deep.equal({ text: 'v1', main: false, secrets: 0 });
    expect(fresh.size).to.equal(1);
    await fresh.close();
  });

  it('start without discord.js, which would take most of their time', async () => {
    const { documents } = open(pool);
    const modules = await documents.run('modules', null);
    expect(modules.filter((file) => file.includes('discord.js'))).to.deep.equal([]);
  });

  it('of the bundled plugins need only the small part of the SDK', async () => {
    const entries = readdirSync(PLUGINS).flatMap((plugin) =>
      readdirSync(join(PLUGINS, plugin, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(PLUGINS, plugin, 'src', file))
        .flatMap((file) =>
          [...readFileSync(file, 'utf8').matchAll(WORKER)].map(([, path = '']) => join(file, '..', path)),
        ),
    );
    expect(entries).to.have.length.of.at.least(3);
    const options = { cacheDir: `${folder.path}/cache`, hostVersion: '0.1.0', verify: false };
    for (const [index, entry] of entries.map((path) => path.replace(/js$/, 'ts')).entries()) {
      const file = await build({ id: `worker-${index}`, path: dirname(entry), entry }, options);
      expect(readFileSync(file, 'utf8'), entry).to.not.match(/require\("@cinnabar\/sdk"\)/);
    }
  });

  it('hand on a sentence for people as it was thrown', async () => {
    const { documents } = open(pool);
    const error: unknown = await documents.run('refuse', 'There is nothing in it.').catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(UserError).and.have.property('message', 'There is nothing in it.');
  });

  it('are killed when they exceed their time, while others go on', async () => {
    const { documents } = open(pool);
    const spinning = failure('CINNABAR_WORKER_TIMEOUT', () => documents.run('spin', null, { timeoutMs: 100 }));
    expect(await documents.run('where', 'v')).to.have.property('main', false);
    await spinning;
    expect(await documents.run('where', 'w')).to.have.property('text', 'w1');
  });

  it('may take longer than their time on a machine that gives them no processor, but not for ever', async function () {
    if (process.platform !== 'linux') this.skip();
    const { documents } = open(pool);
    expect(await documents.run('starve', 100, { timeoutMs: 30 })).to.equal('timed-out');
    await failure('CINNABAR_WORKER_TIMEOUT', () => documents.run('starve', 60_000, { timeoutMs: 30 }));
  });

  it('are killed when they exceed their memory, and the process goes on', async () => {
    const { documents } = open(pool);
    await failure('CINNABAR_WORKER_MEMORY', () => documents.run('flood', null, { timeoutMs: 20_000 }));
    expect(await documents.run('where', 'v')).to.have.property('text', 'v1');
  });

  it('have their own limit of memory in a process with a larger one', async () => {
    setFlagsFromString('--max-old-space-size=768');
    const small = createWorkerPool({ log, memoryMb: 32 });
    expect(await open(small).documents.run('mostMb', null)).to.be.below(100);
    await small.close();
  });

  it('take turns between groups', async () => {
    const single = createWorkerPool({ log, threads: 1 });
    const { documents } = open(single);
    const order: string[] = [];
    const ask = (group: string, name: string) => documents.run('wait', 1, { group }).then(() => order.push(name));
    await Promise.all([ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1')]);
    expect(order).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
    await single.close();
  });

  it('refuse what is more than a group may have waiting', async () => {
    const { documents } = open(pool);
    await documents.run('where', 'v');
    const many = Array.from({ length: 40 }, () => documents.run('wait', 1, { group: 'a' }));
    const refused = (await Promise.allSettled(many)).filter(({ status }) => status === 'rejected');
    expect(refused).to.have.length(40 - 32 - 2);
    for (const one of refused) expect(one).to.have.nested.property('reason.code', 'CINNABAR_WORKER_BUSY');
  });

  it('abort a job whose caller has aborted it', async () => {
    const { documents } = open(pool);
    const controller = new AbortController();
    await documents.run('where', 'v');
    const blocked = documents.run('starve', 60_000, { signal: controller.signal }).catch((error: unknown) => error);
    await documents.run('where', 'v');
    controller.abort(new UserError('Never mind.'));
    expect(await blocked).to.have.property('message', 'Never mind.');
  });

  it('leave no thread when there has been nothing to do', async () => {
    const brief = createWorkerPool({ log, idleMs: 1 });
    const { documents } = open(brief);
    await documents.run('where', 'v');
    while (brief.size > 0) await new Promise(setImmediate);
    expect(await documents.run('where', 'v')).to.have.property('text', 'v1');
    await brief.close();
  });

  it('end with the run of their plugin, and are the new version in the next', async () => {
    const own = createWorkerPool({ log });
    const first = open(own);
    await first.documents.run('where', 'v');
    const blocked = first.documents.run('starve', 60_000).catch((error: unknown) => error);
    await first.documents.run('where', 'v');
    await first.scope.close();
    expect(own.size).to.equal(0);
    expect(await blocked)
      .to.be.instanceOf(CinnabarError)
      .and.have.property('code', 'CINNABAR_PLUGIN_STATE');
    await failure('CINNABAR_PLUGIN_STATE', () => first.documents.run('where', 'v'));
    folder.write('version.ts', 'export const VERSION = 2;');
    expect(await open(own).documents.run('where', 'v')).to.have.property('text', 'v2');
    await own.close();
    folder.write('version.ts', 'export const VERSION = 1;');
  });
});
