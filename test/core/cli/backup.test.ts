import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@cinnabar/core';
import { runBackup, runRestore } from '@cinnabar/core/internal/cli/backup';
import { lockData } from '@cinnabar/core/internal/data-lock/lock';
import { createManualClock } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

/** A bot that is stopped, and a terminal. */
function stopped() {
  const folder = makeFolder({ 'data/documents/dice/settings/guild/1.json': '{"version":1,"data":{}}' });
  const printed: string[] = [];
  const stream = { write: (text: string) => printed.push(text) > 0 };
  const terminal = { stdout: stream, stderr: stream, cwd: () => folder.path };
  // Without the bundled plugins, which nothing here needs.
  const configuration = () =>
    loadConfig(folder.path, { CINNABAR_DATA: 'data', BUILD_CACHE_PATH: process.env.BUILD_CACHE_PATH });
  const options = { verify: false, withSecrets: false };
  return {
    data: join(folder.path, 'data'),
    document: join(folder.path, 'data/documents/dice/settings/guild/1.json'),
    backup: (...operands: string[]) => runBackup(operands, options, configuration, terminal),
    verify: (file: string) => runBackup([file], { ...options, verify: true }, configuration, terminal),
    restore: (file: string) => runRestore([file], configuration, terminal),
    take: () => printed.splice(0).join(''),
    file: join(folder.path, 'b.tar.gz'),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it was done',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe('cinnabar backup and restore', () => {
  it('back up, verify and restore the data of a stopped bot, and say what came of it', async () => {
    using bot = stopped();
    expect(await bot.backup('b.tar.gz')).to.equal(0);
    expect(bot.take()).to.match(
      /Backed up .*data as .*b\.tar\.gz: 1 files, 0\.0 MB, of .* by Cinnabar .*\. Without stored secrets\.\n$/,
    );
    expect(await bot.verify('b.tar.gz')).to.equal(0);
    expect(bot.take()).to.match(/b\.tar\.gz is sound: 1 files/);
    const before = readFileSync(bot.document, 'utf8');
    writeFileSync(bot.document, 'broken');
    expect(await bot.restore('b.tar.gz')).to.equal(0);
    expect(bot.take()).to.match(
      /Restored .*\nWhat was there before is in .*before-restore-.*Z\. Remove that folder once the bot runs as it should\.\n$/,
    );
    expect(readFileSync(bot.document, 'utf8')).to.equal(before);
    expect(existsSync(join(bot.data, 'lock'))).to.equal(false);
  });

  it('touch nothing while the bot runs', async () => {
    using bot = stopped();
    await bot.backup('b.tar.gz');
    const lock = await lockData(bot.data, createManualClock());
    expect(await failure(bot.backup('c.tar.gz'))).to.include('is in use by process');
    expect(await failure(bot.restore('b.tar.gz'))).to.include('is in use by process');
    lock.release();
  });

  it('say what is wrong with their arguments, and with a file that is no backup', async () => {
    using bot = stopped();
    expect(await failure(bot.backup())).to.equal('It is "backup FILE" or "backup --verify FILE".');
    expect(await failure(bot.restore('none.tar.gz'))).to.match(/none\.tar\.gz cannot be read: /);
    writeFileSync(bot.file, 'text');
    expect(await failure(bot.verify('b.tar.gz'))).to.equal('That is not a valid backup: it is not a gzip file.');
  });
});
