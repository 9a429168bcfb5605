import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { lockByAnother, makeFolder } from '../../support/folder.js';

/** A stopped bot without the bundled plugins, which these tests do not need. */
function stopped() {
  const folder = makeFolder({ 'data/documents/dice/settings/guild/1.json': '{"version":1,"data":{}}' });
  return {
    data: join(folder.path, 'data'),
    document: join(folder.path, 'data/documents/dice/settings/guild/1.json'),
    run: (...args: string[]) => cinnabar(args, { cwd: folder.path, env: { CINNABAR_DATA: 'data' } }),
    file: join(folder.path, 'b.tar.gz'),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

describe('cinnabar backup and restore', () => {
  it('back up, verify and restore the data of a stopped bot, and say what came of it', async () => {
    using bot = stopped();
    const made = await bot.run('backup', 'b.tar.gz');
    expect(made.code).to.equal(0);
    expect(made.out).to.match(
      /Backed up .*data as .*b\.tar\.gz: 1 files, 0\.0 MB, of .* by Cinnabar .*\. Without stored secrets\.\n$/,
    );
    const verified = await bot.run('backup', '--verify', 'b.tar.gz');
    expect(verified.code).to.equal(0);
    expect(verified.out).to.match(/b\.tar\.gz is sound: 1 files/);
    const before = readFileSync(bot.document, 'utf8');
    writeFileSync(bot.document, 'broken');
    const restored = await bot.run('restore', 'b.tar.gz');
    expect(restored.code).to.equal(0);
    expect(restored.out).to.match(
      /Restored .*\nWhat was there before is in .*before-restore-.*Z\. Remove that folder once the bot runs as it should\.\n$/,
    );
    expect(readFileSync(bot.document, 'utf8')).to.equal(before);
    expect(existsSync(join(bot.data, 'lock'))).to.equal(false);
  });

  it('touch nothing while the bot runs', async () => {
    using bot = stopped();
    await bot.run('backup', 'b.tar.gz');
    using _ = lockByAnother(bot.data);
    for (const args of [
      ['backup', 'c.tar.gz'],
      ['restore', 'b.tar.gz'],
    ]) {
      const { code, err } = await bot.run(...args);
      expect(err).to.include('is in use by process');
      expect(code).to.equal(1);
    }
  });

  it('say what is wrong with their arguments, and with a file that is no backup', async () => {
    using bot = stopped();
    expect((await bot.run('backup')).err).to.equal('cinnabar: It is "backup FILE" or "backup --verify FILE".\n');
    expect((await bot.run('restore', 'none.tar.gz')).err).to.match(/none\.tar\.gz cannot be read: /);
    writeFileSync(bot.file, 'text');
    expect((await bot.run('backup', '--verify', 'b.tar.gz')).err).to.equal(
      'cinnabar: That is not a valid backup: it is not a gzip file.\n',
    );
  });
});
