import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { Backups } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { openBrowser } from '../web/browser.js';
import { answering } from './harness.js';

const HOUR = 3_600_000;

describe('admin: backups', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;
  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'web'], env: { CINNABAR_WEB: '0' } });
    say = answering(host);
  });
  after(() => host[Symbol.asyncDispose]());

  const folder = () => join(host.dataDir, 'backups');
  const names = () => readdirSync(folder()).sort();

  it('are made, listed and verified by the owner of the bot alone', async () => {
    expect(await say(host.alice, '!backup')).to.include("you need to be at least the bot's owner");
    const made = await say(host.you, '!backup');
    expect(made).to.match(
      /^Backed up in \S+: `cinnabar-\d{8}T\d{9}Z\.tar\.gz`, \d+ files?, 0\.0 MB, by Cinnabar \S+, without stored secrets\. Every checksum is right\.$/,
    );
    expect(made).to.not.include(host.dataDir);
    expect(await say(host.you, '!backup verify')).to.match(/^It is sound: `cinnabar-/);
    expect(await say(host.you, '!backup verify nope')).to.equal('There is no backup called nope.');
    await say(host.you, '!backup list');
    const listed = host.you.openDm(host.application).messages.at(-1)?.content ?? '';
    expect(listed).to.match(/^\*\*Backups\*\* \(1\)\n• <t:\d+:f> `cinnabar-/);
    const [slash] = (await host.you.slash(host.general, 'backup', {}).answered()).messages;
    await host.settled();
    expect(slash?.visibleTo ?? host.you).to.equal(host.you);
  });

  it('are downloaded in the dashboard by the owner of the bot alone; those with secrets never', async () => {
    const [name = ''] = names();
    const [owner, member, nobody] = [openBrowser(host), openBrowser(host), openBrowser(host)];
    await owner.signIn(host.you.id);
    await member.signIn(host.alice.id);
    const path = (wanted: string) => `/api/pages/admin/backups/files/backup?name=${encodeURIComponent(wanted)}`;
    expect(JSON.stringify((await owner.get('/api/pages/admin/backups')).body)).to.include(`"download":"backup"`);
    const { headers, status } = await owner.get(path(name));
    expect(status).to.equal(200);
    expect(headers.get('content-disposition')).to.equal(`attachment; filename="${name}"`);
    expect(headers.get('content-length')).to.equal(String(statSync(join(folder(), name)).size));
    expect(headers.get('cache-control')).to.equal('no-store');
    const downloaded = await fetch(new URL(path(name), owner.url), { headers: { cookie: owner.cookie } });
    expect(Buffer.from(await downloaded.arrayBuffer())).to.deep.equal(readFileSync(join(folder(), name)));
    expect((await member.get(path(name))).status).to.equal(403);
    expect((await nobody.get(path(name))).status).to.equal(401);
    expect((await owner.get(path(`../backups/${name}`))).status).to.equal(422);
    await host.advance(1_000);
    const secret = await host.resolve(Backups).create({ withSecrets: true });
    expect((await owner.get(path(secret.name))).body)
      .to.have.property('error')
      .that.includes('has secrets in it');
    rmSync(join(folder(), secret.name));
  });

  it('say when one is broken', async () => {
    const [name = ''] = names();
    const path = join(folder(), name);
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length - 20));
    expect(await say(host.you, `!backup verify ${name}`)).to.equal('That is not a valid backup: it ends too early.');
    writeFileSync(path, bytes);
  });

  it('are made on schedule, and so many kept as is set; those made by hand, and other files, stay', async () => {
    const byHand = names();
    writeFileSync(join(folder(), 'mine.tar.gz'), 'x');
    writeFileSync(join(folder(), 'cinnabar-judy-20200101T000000000Z-auto.tar.gz'), "another bot's");
    await say(host.you, '!set admin backupHours 6');
    await say(host.you, '!set admin backupKeep 2');
    const auto = () => names().filter((name) => /^cinnabar-\d.*-auto\.tar\.gz$/.test(name));
    await host.advance(11 * 60_000);
    expect(auto()).to.have.length(1);
    await host.advance(2 * HOUR);
    expect(auto()).to.have.length(1);
    for (let round = 0; round < 4; round += 1) await host.advance(6.2 * HOUR);
    expect(auto()).to.have.length(2);
    expect(names()).to.include.members([...byHand, 'mine.tar.gz', 'cinnabar-judy-20200101T000000000Z-auto.tar.gz']);
  });

  it('tell the owner when one fails, and go on', async () => {
    await say(host.you, `!set admin backupFolder ${join(host.dataDir, 'documents', 'inside')}`);
    await host.advance(11 * 60_000);
    await host.advance(60_000);
    const told = () =>
      host.you
        .openDm(host.application)
        .messages.map(({ content }) => content)
        .join('\n');
    expect(told()).to.include('A backup on schedule failed: A backup cannot be inside the data');
    using elsewhere = makeFolder();
    await say(host.you, `!set admin backupFolder ${elsewhere.path}`);
    await host.advance(11 * 60_000);
    expect(readdirSync(elsewhere.path)).to.have.length(1);
    expect(existsSync(join(host.dataDir, '.snapshot'))).to.equal(false);

    // A file from before a correction of the clock, and a broken link.
    const future = 'cinnabar-29990101T000000000Z-auto.tar.gz';
    writeFileSync(join(elsewhere.path, future), 'x');
    symlinkSync(join(elsewhere.path, 'gone'), join(elsewhere.path, 'cinnabar-20200101T000000000Z-auto.tar.gz'));
    const before = readdirSync(elsewhere.path);
    await host.advance(6.2 * HOUR);
    expect(readdirSync(elsewhere.path).filter((name) => !before.includes(name))).to.have.length(1);
  });

  it('are named to members who have their data deleted: where they are still in, and for how long', async () => {
    const forget = async () => {
      await host.advance(61_000);
      const dm = host.alice.openDm(host.application);
      host.alice.say(dm, '!mydata forget everything');
      await host.settled();
      return dm.messages.at(-1)?.content ?? '';
    };
    using folder = makeFolder();
    await say(host.you, `!set admin backupFolder ${folder.path}`);
    await say(host.you, '!set admin backupHours 0');
    expect(await forget())
      .to.include('- copies in backups that the owner of the bot has put elsewhere, if there are any')
      .and.not.include('that I make every');
    await say(host.you, '!backup');
    expect(await forget()).to.include('- copies in a backup that was made by hand, and in those');
    await say(host.you, '!set admin backupHours 24');
    await say(host.you, '!set admin backupKeep 7');
    expect(await forget())
      .to.include(
        '- copies in the backups that I make every 24 hours: the last 7 are kept, so the data are in them for about 7 days',
      )
      .and.include('- when a backup is restored, the data are back: ask me to forget them again');
  });
});
