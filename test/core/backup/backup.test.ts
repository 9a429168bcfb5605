import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  promises,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createFileDriver, HOST_VERSION } from '@cinnabar/core';
import { createManualClock } from '@cinnabar/core/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import { makeFolder } from '../../support/folder.js';
import { recordingLogger } from '../../support/logs.js';
import {
  backedUp,
  type Files,
  type ForgedEntry,
  filesIn,
  filesOfBackup,
  forge,
  killed,
  lay,
  recovered,
  restored,
} from './world.js';

const OLD: Files = {
  'documents/dice/settings/guild/1.json': '{"version":1,"data":{"sides":6}}',
  'documents/party/collections/user/rosters/42.json': '{"version":1,"data":{}}',
  'relay/queue/queue.jsonl': '{"n":1}\n',
  'persona/notes.txt': 'old',
};
const NEW: Files = {
  'documents/dice/settings/guild/1.json': '{"version":1,"data":{"sides":20}}',
  'tasks/journal/tasks.jsonl': '',
  'persona/notes.txt': 'new',
};
const NO_DATA: Files = {
  'logs/today.log': 'x',
  'cache/plugins/a.js': 'x',
  'bots/judy/documents/a.json': '{}',
  'plugins/package.json': '{}',
  'config/bot.yaml': 'vendors: { openai: { config: { apiKey: hunter2hunter2 } } }',
};

/** A data folder, and a backup of other data. */
async function world() {
  const folder = makeFolder();
  const [dataDir, source, file] = [
    join(folder.path, 'data'),
    join(folder.path, 'source'),
    join(folder.path, 'b.tar.gz'),
  ];
  lay(source, NEW);
  await backedUp(source, file);
  lay(dataDir, { ...OLD, ...NO_DATA });
  return { dataDir, source, file, folder, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it was taken',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe('a backup', () => {
  it('restores every file byte for byte, with any content, readable only by its owner', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.stringMatching(/^[a-z%_-]{1,30}(\/[a-z0-9%_.+-]{0,60}[a-z]){0,4}$/),
          fc.string({ maxLength: 2000 }),
          { maxKeys: 6 },
        ),
        async (files) => {
          const paths = Object.keys(files).filter(
            (path) => !Object.keys(files).some((one) => one.startsWith(`${path}/`)),
          );
          const kept = Object.fromEntries(
            paths
              .filter((path) => !/^(lock|logs|cache|plugins|bots|backups|config)(\/|$)|\.new(\/|$)/.test(path))
              .map((path) => [path, files[path] ?? '']),
          );
          using folder = makeFolder();
          const [dataDir, other, file] = ['data', 'other', 'b.tar.gz'].map((name) => join(folder.path, name)) as [
            string,
            string,
            string,
          ];
          lay(dataDir, { ...kept, ...NO_DATA });
          lay(other, { 'left/over.txt': 'x' });
          const { files: listed } = await backedUp(dataDir, file);
          expect(statSync(file).mode & 0o777).to.equal(0o600);
          await restored(file, other);
          expect(listed.map(({ path }) => path).sort()).to.deep.equal(Object.keys(kept).sort());
          const { aside, rest } = parted(filesIn(other));
          expect(rest).to.deep.equal(filesInOrder(kept));
          expect(aside).to.deep.equal({ 'left/over.txt': 'x' });
        },
      ),
      { numRuns: 15 },
    );
  });

  it('leaves files that are not data unchanged, and sets the replaced data aside', async () => {
    using here = await world();
    const { aside } = await restored(here.file, here.dataDir);
    expect(aside).to.equal(join(here.dataDir, 'before-restore-19700101T000000Z'));
    expect(filesIn(aside ?? '')).to.deep.equal(filesInOrder(OLD));
    rmSync(aside ?? '', { recursive: true });
    expect(filesIn(here.dataDir)).to.deep.equal(filesInOrder({ ...NEW, ...NO_DATA }));
  });

  it('holds what was stored at one moment: never the second of two documents without the first', async () => {
    using folder = makeFolder();
    const dataDir = join(folder.path, 'data');
    const driver = createFileDriver({
      root: join(dataDir, 'documents'),
      journals: dataDir,
      clock: createManualClock(),
      log: recordingLogger(),
    });
    const journal = driver.journal(['pairs', 'log', 'log']);
    let stop = false;
    let n = 0;
    const writing = (async () => {
      while (!stop) {
        n += 1;
        await driver.write(['pairs', 'one'], { version: 1, data: { n } });
        await journal.add(`${n}\n`);
        await driver.write(['pairs', 'two'], { version: 1, data: { n } });
      }
    })();
    const seen: (readonly [one: number, log: number, two: number])[] = [];
    for (let round = 0; round < 8; round += 1) {
      const file = join(folder.path, `${round}.tar.gz`);
      await backedUp(dataDir, file);
      const found = await filesOfBackup(file);
      const numberIn = (path: string) => Number(JSON.parse(found[path] ?? '{"data":{"n":0}}').data.n);
      const logged = Number(found['pairs/log/log.jsonl']?.trim().split('\n').at(-1) ?? 0);
      seen.push([numberIn('documents/pairs/one.json'), logged, numberIn('documents/pairs/two.json')]);
    }
    stop = true;
    await writing;
    await journal.release();
    for (const [one, log, two] of seen) {
      expect(one - log, `${seen}`).to.be.within(0, 1);
      expect(log - two, `${seen}`).to.be.within(0, 1);
    }
    expect(seen.at(-1)?.[0], 'writes went on meanwhile').to.be.greaterThan(seen[0]?.[0] ?? 0);
    expect(existsSync(join(dataDir, '.snapshot'))).to.equal(false);
  });

  it('leaves secrets out, also of plugins that are not there, unless they are asked for', async () => {
    using folder = makeFolder();
    const [dataDir, file] = [join(folder.path, 'data'), join(folder.path, 'b.tar.gz')];
    const settings = (data: object) => JSON.stringify({ version: 1, data });
    lay(dataDir, {
      'secrets.json': '{"values":{"KEY":"hunter2hunter2"}}',
      'documents/llm/settings/global/global.json': settings({
        vendors: { a: { apiKey: 'hunter2hunter2' } },
        model: 'm',
      }),
      'documents/llm/settings/global/global.last-good': settings({ vendors: { a: { apiKey: 'hunter2hunter2' } } }),
      'documents/llm/settings/global/global.corrupt-1': '{"vendors": "hunter2hunter2',
      'documents/gone/settings/global/global.json': settings({ config: { apiKey: 'hunter2hunter2' }, style: 'neon' }),
      'documents/llm/collections/user/keys/1.json': settings({ n: 1 }),
    });
    const secrets = new Map([['llm', new Map([['global', new Set(['vendors'])]] as const)]]);
    const { leftOut } = await backedUp(dataDir, file, { secrets });
    expect(leftOut).to.deep.equal(['gone: config', 'llm: a damaged document', 'llm: vendors']);
    const other = join(folder.path, 'other');
    lay(other, { 'secrets.json': 'kept' });
    await restored(file, other);
    const found = filesIn(other);
    expect(JSON.stringify(found)).to.not.include('hunter2');
    expect(found['secrets.json'], 'those that are there stay').to.equal('kept');
    expect(JSON.parse(found['documents/llm/settings/global/global.json'] ?? '').data).to.deep.equal({ model: 'm' });
    expect(JSON.parse(found['documents/gone/settings/global/global.json'] ?? '').data).to.deep.equal({
      style: 'neon',
    });

    await backedUp(dataDir, file, { secrets, withSecrets: true });
    await restored(file, other, { now: 1 });
    expect(filesIn(other)['secrets.json']).to.include('hunter2');
  });

  it('leaves a damaged store of secrets out, too', async () => {
    using folder = makeFolder();
    const [dataDir, file] = [join(folder.path, 'data'), join(folder.path, 'b.tar.gz')];
    lay(dataDir, { ...OLD, 'secrets.json.corrupt': '{"values":{"KEY":"hunter2hunter2"' });
    const { files } = await backedUp(dataDir, file);
    expect(files.map(({ path }) => path)).to.have.members(Object.keys(OLD));
  });

  it('is refused among the data, and does not follow links', async () => {
    using here = await world();
    expect(await refusal(backedUp(here.dataDir, join(here.dataDir, 'persona', 'b.tar.gz')))).to.include(
      'cannot be inside the data',
    );
    symlinkSync('/etc/passwd', join(here.dataDir, 'persona', 'link'));
    expect(await refusal(backedUp(here.dataDir, here.file))).to.include('is neither a file nor a folder');
    expect(Object.keys(await filesOfBackup(here.file)).length, 'the one before is still there').to.equal(3);
  });
});

describe('restoring a backup', () => {
  const manifestWith = (
    files: readonly ForgedEntry[],
    changes: Readonly<Record<string, unknown>> = {},
  ): ForgedEntry => ({
    path: 'manifest.json',
    content: JSON.stringify({
      program: 'cinnabar',
      format: 1,
      host: HOST_VERSION,
      createdAt: 0,
      bot: null,
      withSecrets: false,
      leftOut: [],
      plugins: [],
      files: files.map(({ path, content }) => ({
        path,
        size: Buffer.byteLength(content),
        sha256: createHash('sha256').update(content).digest('hex'),
      })),
      ...changes,
    }),
  });
  const file = (path: string, content = 'x'): ForgedEntry => ({ path, content });
  const good = file('documents/a.json', 'good');
  const whole = (...files: ForgedEntry[]) => [manifestWith(files), ...files];

  const EVIL: readonly (readonly [what: string, entries: readonly ForgedEntry[], sentence: RegExp])[] = [
    ['a path above the data', whole(good, file('documents/../../evil')), /no path below the data/],
    ['an absolute path', whole(file('/etc/evil')), /no path below the data/],
    ['a path of Windows', whole(file('documents\\..\\evil')), /no path below the data/],
    ['another drive', whole(file('C:/evil')), /no path below the data/],
    ['an empty name', whole(file('documents//a')), /no path below the data/],
    ['a path that is too long', whole(file(`documents/${'a/'.repeat(600)}b`)), /too long/],
    ['the lock', whole(file('lock')), /is no data/],
    ['another bot', whole(file('bots/judy/documents/a.json')), /is no data/],
    ['its own folder of work', whole(file('.restore/plan.json')), /is no data/],
    ['the same name twice', whole(file('documents/a'), file('documents/A')), /is there twice/],
    ['a file that is a folder', whole(file('documents/a'), file('documents/a/b')), /a file and a folder/],
    [
      'a link',
      [manifestWith([good]), { ...good, content: '', type: 'SymbolicLink', linkpath: '/etc/passwd' }],
      /not a plain file/,
    ],
    [
      'a hard link',
      [manifestWith([good]), { ...good, content: '', type: 'Link', linkpath: 'documents/b' }],
      /not a plain file/,
    ],
    ['a device', [manifestWith([good]), { ...good, content: '', type: 'CharacterDevice' }], /not a plain file/],
    ['a file that is not listed', [manifestWith([good]), good, file('documents/b.json')], /not in its list/],
    ['a file under another name', [manifestWith([good]), file('documents/b.json', 'good')], /should be there is/],
    ['a file that is missing', [manifestWith([good, file('documents/b.json')]), good], /is missing/],
    ['other content', [manifestWith([good]), file(good.path, 'evil')], /not what it was/],
    ['more content', [manifestWith([good]), file(good.path, 'good and more')], /another size/],
    ['no manifest', [good], /does not begin with a list/],
    ['a broken manifest', [file('manifest.json', '{')], /list of files cannot be read/],
    ['another program', [file('manifest.json', '{"program":"red","format":1}')], /another program/],
    ['a newer format', [manifestWith([good], { format: 2 }), good], /made by a newer version/],
    ['what would move the cursor', [manifestWith([good], { leftOut: ['\u001b[2J'] }), good], /not right.*leftOut/],
    ['a newer host', [manifestWith([good], { host: '99.0.0' }), good], /made by Cinnabar 99\.0\.0.*Update/],
    [
      'more than the disk holds',
      [manifestWith([], { files: [{ path: 'documents/a', size: 2 ** 50, sha256: '0'.repeat(64) }] })],
      /too little room/,
    ],
  ];

  it('refuses what is not sound, and touches nothing then', async () => {
    using here = await world();
    const before = filesIn(here.dataDir);
    for (const [what, entries, sentence] of EVIL) {
      const evil = join(here.folder.path, 'evil.tar.gz');
      await forge(evil, entries);
      expect(await refusal(restored(evil, here.dataDir)), what).to.match(sentence);
      expect(filesIn(here.dataDir), what).to.deep.equal(before);
    }
    expect(existsSync(join(here.folder.path, 'evil'))).to.equal(false);
  });

  it('refuses archives that were cut off, changed or packed twice', async () => {
    using here = await world();
    const before = filesIn(here.dataDir);
    const bytes = readFileSync(here.file);
    const broken = join(here.folder.path, 'broken.tar.gz');
    const refused = async (content: Uint8Array) => {
      writeFileSync(broken, content);
      expect(await refusal(restored(broken, here.dataDir))).to.match(/not a valid backup/);
    };
    for (const length of [0, 1, 10, 100, bytes.length >> 1, bytes.length - 9, bytes.length - 1])
      await refused(bytes.subarray(0, length));
    for (let at = 12; at < bytes.length - 8; at += 37) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      await refused(changed);
    }
    await refused(gzipSync(bytes));
    await refused(Buffer.from('no gzip at all'));
    expect(filesIn(here.dataDir)).to.deep.equal(before);
    expect(await refusal(restored(join(here.folder.path, 'none'), here.dataDir))).to.include('cannot be read');
  });

  it('is completed by the next start after an interruption at any moment', async () => {
    const { rename } = promises;
    let done = false;
    for (let at = 0; !done; at += 1) {
      using here = await world();
      let renames = 0;
      promises.rename = async (from, to) => {
        renames += 1;
        if (renames > at) throw new Error('the power failed');
        return rename(from, to);
      };
      syncBuiltinESMExports();
      const outcome = await refusal(restored(here.file, here.dataDir)).finally(() => {
        promises.rename = rename;
        syncBuiltinESMExports();
      });
      done = outcome === 'it was taken';
      await recovered(here.dataDir);
      const { aside, rest } = parted(filesIn(here.dataDir));
      // The first rename activates the plan.
      expect(rest, `after ${at} renames`).to.deep.equal(filesInOrder({ ...(at === 0 ? OLD : NEW), ...NO_DATA }));
      expect(aside, `after ${at} renames`).to.deep.equal(at === 0 ? {} : filesInOrder(OLD));
      expect(at).to.be.lessThan(20);
    }
  });

  it('is complete when the system writes only a part of the data at a time', async () => {
    using here = await world();
    const { open } = promises;
    promises.open = async (...args) => {
      const handle = await open(...args);
      return Object.assign(handle, {
        write: async (bytes: Buffer) => ({ bytesWritten: writeSync(handle.fd, bytes, 0, Math.ceil(bytes.length / 2)) }),
      });
    };
    syncBuiltinESMExports();
    await restored(here.file, here.dataDir).finally(() => {
      promises.open = open;
      syncBuiltinESMExports();
    });
    expect(parted(filesIn(here.dataDir)).rest).to.deep.equal(filesInOrder({ ...NEW, ...NO_DATA }));
  });

  it('leaves the old data or the new ones when the process is killed', async function () {
    this.timeout(30_000);
    using folder = makeFolder();
    const [dataDir, a, b] = ['data', 'a.tar.gz', 'b.tar.gz'].map((name) => join(folder.path, name)) as [
      string,
      string,
      string,
    ];
    const many = (word: string) =>
      Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`documents/p${n % 7}/${n}.json`, word]));
    for (const [word, file] of [
      ['old', a],
      ['new', b],
    ] as const) {
      const source = join(folder.path, word);
      lay(source, many(word));
      await backedUp(source, file);
    }
    mkdirSync(dataDir);
    for (const afterMs of [12, 45]) {
      await killed('restore', afterMs, dataDir, a, b);
      await recovered(dataDir);
      const { rest } = parted(filesIn(dataDir));
      expect([[], ['new'], ['old']].map(String)).to.include(String([...new Set(Object.values(rest))]));
      if (Object.keys(rest).length > 0) expect(Object.keys(rest)).to.have.length(60);
    }
    lay(dataDir, many('old'));
    const before = readFileSync(a);
    for (const afterMs of [5, 30]) {
      await killed('backup', afterMs, dataDir, a);
      expect(Object.keys(await filesOfBackup(a)), `after ${afterMs} ms`).to.have.length(60);
    }
    expect(before.length).to.be.greaterThan(0);
    await recovered(dataDir);
    expect(existsSync(join(dataDir, '.snapshot'))).to.equal(false);
  });
});

/** The files that a restore has set aside, and all others. */
function parted(files: Files) {
  const aside: [string, string][] = [];
  const rest: [string, string][] = [];
  for (const [path, content] of Object.entries(files)) {
    const kept = /^before-restore-[^/]+\/(.*)$/.exec(path)?.[1];
    if (kept === undefined) rest.push([path, content]);
    else aside.push([kept, content]);
  }
  return { aside: Object.fromEntries(aside), rest: Object.fromEntries(rest) };
}

function filesInOrder(files: Files): Files {
  return Object.fromEntries(Object.entries(files).sort(([one], [other]) => (one < other ? -1 : 1)));
}
